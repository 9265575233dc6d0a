"""Episodes as files and as tables: what is written comes back, and what is not there is null and never 0."""

import json

import examples
import pytest

import merit_rl
from merit_rl import InputError, Reward, World

ROWS = [{"prompt": f"{at}*7?", "response": str(at * 7), "answer": str(at * 7)} for at in range(3)]


def played(count=3):
    return merit_rl.rollout("sums-tools", lambda messages: "answer 7", tasks=count, seed=2)


def test_what_a_run_recorded_is_written_and_comes_back_whole(tmp_path):
    small = {"budget.steps": 1, "warm_start.steps": 5, "evaluation.tasks": 4, "controls": []}
    merit_rl.train("sums-tools", tmp_path / "run", set=small)
    recorded = merit_rl.episodes(tmp_path / "run")
    assert len(recorded) > 4 and any(told["score"] for told in recorded)
    merit_rl.write_episodes(tmp_path / "all.jsonl", recorded)
    assert merit_rl.episodes(tmp_path / "all.jsonl") == recorded
    merit_rl.write_episodes(tmp_path / "all.jsonl", merit_rl.episodes(tmp_path / "all.jsonl")[:2])
    assert merit_rl.episodes(tmp_path / "all.jsonl") == recorded[:2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.jsonl", "run"]


def test_rollouts_episodes_and_played_worlds_are_written(tmp_path):
    file = tmp_path / "played.jsonl"
    pairs = played()
    merit_rl.write_episodes(file, pairs)
    again = merit_rl.episodes(file)
    assert [(told["reward"], told["episode"]) for told in again] == [(score.reward, episode) for score, episode in pairs]
    assert [told["score"] for told in again] == [score.to_dict()["score"] for score, _ in pairs]
    merit_rl.write_episodes(file, merit_rl.parse_episodes(ROWS))
    assert [told["episode"] for told in merit_rl.episodes(file)] == merit_rl.parse_episodes(ROWS)
    world, envs = World("sums"), []
    for _ in range(2):
        envs.append(world.open(world.task()))
        envs[-1].reset()
        envs[-1].step("answer 7")
    merit_rl.write_episodes(file, envs)
    assert [told["episode"]["id"]["member"] for told in merit_rl.episodes(file)] == [0, 1]
    assert Reward("sums-tools").score([told["episode"] for told in merit_rl.episodes(file)])[0].reward is not None


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    file = tmp_path / "played.jsonl"
    merit_rl.write_episodes(file, played())
    before = file.read_bytes()
    [(_, episode), *_] = played()
    with pytest.raises(InputError, match="item 1"):
        merit_rl.write_episodes(file, [episode, episode])
    with pytest.raises(InputError, match="no episodes"):
        merit_rl.write_episodes(file, [])
    with pytest.raises(InputError, match="nowhere"):
        merit_rl.write_episodes(tmp_path / "nowhere" / "played.jsonl", [episode])
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]


def unscored(tmp_path):
    """A file of an episode with a reward and one that nobody scored."""
    [(score, episode), (_, other), *_] = played()
    lines = [{"episode": episode, "score": score.to_dict()["score"]}, {"episode": other, "score": None}]
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file, score.reward


def test_a_frame_has_a_row_for_each_episode(tmp_path):
    file, reward = unscored(tmp_path)
    frame = merit_rl.frame(file)
    assert list(frame["reward"].isna()) == [False, True] and frame["reward"][0] == reward
    assert {"id", "phase", "task", "outcome", "turns", "end"} <= set(frame.columns)


def test_a_table_of_pyarrow_has_the_same_rows_and_nulls(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    examples.run("merit_rl.frames")
    file, reward = unscored(tmp_path)
    table = merit_rl.table(file)
    assert isinstance(table, pyarrow.Table) and table["reward"].to_pylist() == [reward, None]
    assert table.schema.field("reward").type == pyarrow.float64() and table.schema.field("turns").type == pyarrow.int64()
    frame = merit_rl.frame(file)
    assert table.column_names == list(frame.columns)
    assert table["id"].to_pylist() == list(frame["id"])
    merit_rl.train("sums-tools", tmp_path / "run", set={"budget.steps": 1, "warm_start.steps": 5, "evaluation.tasks": 4, "controls": []})
    whole, some = merit_rl.table(tmp_path / "run"), merit_rl.table(tmp_path / "run", phase="train")
    assert 0 < some.num_rows < whole.num_rows and set(some["phase"].to_pylist()) == {"train"}
