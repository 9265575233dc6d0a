"""Rewards and verifiers: batches in, typed scores out; what nobody can judge is None and never 0."""

import json
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import pytest

import merit_rl
from merit_rl import InputError, MeritError, Reward, Verifier


def rows(*pairs):
    return [{"prompt": "6*7?", "response": said, "answer": right} for said, right in pairs]


def test_a_reward_scores_rows_in_their_order_and_names_its_terms():
    both = {"type": "sum", "of": [{"type": "maths", "name": "right"}, {"type": "ended", "by": "answer", "weight": 0.5}]}
    reward = Reward({"type": "solved-by", "term": "right", "of": both})
    scores = reward.score(rows(("42", "42"), ("41", "42"), ("forty-two, so 42", "42")))
    assert reward.terms == ["right", "ended"]
    assert [score.terms["right"] for score in scores] == [1.0, 0.0, 1.0]
    assert [score.reward for score in scores] == [1.5, 0.5, 1.5]
    assert scores[0].outcome == "solved" and scores[1].outcome == "policy wrong"
    assert scores[0].to_dict()["score"]["terms"][0]["evidence"]


def test_a_reference_that_cannot_be_read_has_no_reward():
    [score] = Reward({"type": "maths"}).score(rows(("42", "")))
    assert score.reward is None and score.outcome in ("unscorable", "grader failed")


def test_a_shipped_reward_a_file_toml_and_a_dict_are_the_same_reward(tmp_path):
    text = 'type = "maths"\nweight = 2.0\n'
    (tmp_path / "mine.toml").write_text(text)
    for source in (text, str(tmp_path / "mine.toml"), tmp_path / "mine.toml", {"type": "maths", "weight": 2.0}):
        assert Reward(source).score(rows(("42", "42")))[0].reward == 2.0
    assert Reward("final-answer").terms
    with pytest.raises(InputError, match="final-answer"):
        Reward(pathlib.Path("final-answer"))


def test_a_name_that_is_nearly_right_is_told_with_the_nearest():
    with pytest.raises(InputError, match="did you mean `maths`"):
        Reward({"type": "math"})
    with pytest.raises(ValueError, match="nobody|unknown field|weigth"):
        Reward({"type": "maths", "weigth": 1.0})
    with pytest.raises(InputError, match="did you mean `maths`"):
        Verifier("math")
    with pytest.raises(InputError, match="record 1"):
        Verifier("maths").judge([{"gold": "1", "response": "1"}, {"gold": "1"}])


def test_a_row_that_is_none_is_refused_and_says_which():
    with pytest.raises(InputError, match="2"):
        Reward({"type": "maths"}).score([{"prompt": "a", "response": "1"}, {"prompt": "a"}])


def test_a_python_function_is_a_term_and_what_it_raises_is_the_graders_failure():
    def short(episode):
        said = episode["turns"][-1]["action"]["text"]
        if said == "raise":
            raise RuntimeError("no idea")
        return None if said == "none" else float(len(said) <= 2)

    reward = Reward({"type": "function", "function": "short"}, functions={"short": short})
    scores = reward.score([{"prompt": "?", "response": said} for said in ("ab", "abc", "none", "raise")])
    assert [score.reward for score in scores] == [1.0, 0.0, None, None]
    assert [score.outcome for score in scores[2:]] == ["unscorable", "grader failed"]
    with pytest.raises(InputError, match="no function `short` was given"):
        Reward({"type": "function", "function": "short"})


def test_a_file_may_name_a_function_too(tmp_path):
    (tmp_path / "mine.toml").write_text('type = "sum"\nof = [{ type = "function", function = "two" }, { type = "maths" }]\n')
    reward = Reward(tmp_path / "mine.toml", functions={"two": lambda episode: 2.0})
    assert reward.score(rows(("42", "42")))[0].reward == 3.0
    with pytest.raises(InputError, match="no function `two` was given"):
        Reward(tmp_path / "mine.toml")


@pytest.fixture(scope="module")
def stars(tmp_path_factory):
    """A folder with a judge that `merit evolve` made of pairs of orders, and its version: the order with more stars is better."""
    folder = tmp_path_factory.mktemp("judged")

    def pair(at):
        colours = ["red", "green", "blue"]
        better, worse = ({"stars": least + at, "colour": colours[at // by % 3]} for least, by in ((10_000, 1), (100, 3)))
        return {"prompt": f"order {at}", "chosen": better, "rejected": worse}

    (folder / "pairs.jsonl").write_text("".join(json.dumps(pair(at)) + "\n" for at in range(80)))
    merit_rl.run("evolve", folder / "stars", "--from", folder / "pairs.jsonl", "--set", "evolve.rounds=3")
    return folder, int(re.search(r"^version = (\d+)", (folder / "stars" / "state.toml").read_text(), re.MULTILINE)[1])


ORDERS = [{"prompt": "order 1", "response": json.dumps({"stars": many, "colour": "red"})} for many in (10_900, 150)]


def pays(reward):
    """What it pays for the better order and for the worse one."""
    better, worse = (score.reward for score in reward.score(ORDERS))
    assert better > worse
    return better, worse


def test_a_judge_is_a_term_in_toml_in_a_dict_and_in_a_file(stars, tmp_path):
    folder, version = stars
    judge = f"{folder}/stars@{version}"
    text = f'type = "judge"\njudge = "{judge}"\nforce = true\n'
    (tmp_path / "mine.toml").write_text(text)
    table = {"type": "judge", "judge": judge, "force": True}
    assert "judge" in merit_rl.names("terms") and Reward(table).terms == ["judge"]
    paid = [pays(Reward(source)) for source in (text, table, str(tmp_path / "mine.toml"), tmp_path / "mine.toml")]
    assert len(set(paid)) == 1
    both = Reward({"type": "sum", "of": [{**table, "weight": 2.0}, {"type": "ended", "by": "answer"}]})
    assert [score.terms["judge"] for score in both.score(ORDERS)] == list(paid[0])


def test_a_judge_travels_by_where_its_folder_is_and_is_missed_at_once(stars, tmp_path, monkeypatch):
    folder, version = stars
    copied = shutil.copytree(folder / "stars", tmp_path / "mine" / "stars")
    monkeypatch.chdir(tmp_path / "mine")
    asks = {"type": "judge", "judge": f"stars@{version}", "force": True}
    reward = Reward({"type": "solved-by", "term": "judge", "at_least": 0.5, "of": {"type": "sum", "of": [asks]}})
    paid, sent = pays(reward), pickle.dumps(reward)
    monkeypatch.chdir(tmp_path)
    assert pays(pickle.loads(sent)) == paid
    said = subprocess.run(
        [sys.executable, "-c", "import pickle, sys; print([one.reward for one in pickle.load(sys.stdin.buffer).score(eval(sys.argv[1]))])", repr(ORDERS)],
        input=sent, capture_output=True, cwd="/", check=True,
    )
    assert said.stdout.decode().strip() == str(list(paid))
    shutil.rmtree(copied)
    for lost in (lambda: pickle.loads(sent), lambda: Reward({**asks, "judge": f"{copied}@{version}"})):
        with pytest.raises(InputError, match="mine/stars is no judge"):
            lost()
    with pytest.raises(InputError, match="there is no version 999"):
        Reward({**asks, "judge": f"{folder}/stars@999"})
    with pytest.raises(InputError, match="must be a folder and a version"):
        Reward({**asks, "judge": f"{folder}/stars"})


def test_what_a_judge_was_to_say_beforehand_and_did_not_is_no_zero():
    [score] = Reward({"type": "annotation", "key": "helpful"}).score(rows(("42", "42")))
    assert score.reward is None and score.outcome == "grader failed"


def test_an_explanation_is_in_words():
    assert "maths" in Reward({"type": "maths"}).explain(rows(("42", "42"))[0])


def test_verifiers_say_whose_doing_it_is():
    maths = Verifier("maths")
    right, wrong, unread, bad = maths.judge(
        [
            {"gold": "1/2", "response": "0.5"},
            {"gold": "1/2", "response": "0.6"},
            {"gold": "1/2", "response": "I do not know"},
            {"gold": "", "response": "0.5"},
        ]
    )
    assert (right.passed, right.score) == (True, 1.0)
    assert (wrong.passed, wrong.score) == (False, 0.0)
    assert (unread.passed, unread.score) == (False, 0.0)
    assert (bad.passed, bad.score, bad.conclusion) == (None, None, "bad reference")
    assert right.detail["rule"]


def test_what_breaks_inside_is_the_graders_failure_or_an_error_and_never_ends_the_program():
    broken = Verifier("broken")
    assert broken.pairs(["1", "2"], ["1", "2"]) == [None, None]
    [judged] = broken.judge([{"gold": "1"}])
    assert (judged.passed, judged.score, judged.conclusion) == (None, None, "grader failed")
    assert "merit itself broke" in judged.why and "as it should" in judged.why
    with pytest.raises(MeritError, match="merit itself broke: it broke at its start, as it should; please report it") as caught:
        Verifier("broken", at="start")
    assert not isinstance(caught.value, InputError)


def test_settings_of_a_verifier_are_its_own():
    assert Verifier("text", metric={"type": "f1"}).pairs(["red fox"], ["red owl"]) == [0.5]
    with pytest.raises(InputError):
        Verifier("text", metirc="f1")


def test_programs_are_judged_in_the_sandbox():
    code = Verifier("code")
    record = {"response": "def add(a, b):\n    return a + b", "tests": ["assert add(2, 3) == 5", "assert add(-1, 1) == 0"]}
    wrong = {**record, "response": "def add(a, b):\n    return a - b"}
    assert [judged.passed for judged in code.judge([record, wrong])] == [True, False]


def test_audits_find_what_a_reward_pays_for_without_the_work():
    audit = merit_rl.attack("final-answer", count=3)
    assert audit["tasks"] == 3 and audit["probes"]


TASKS = [{"prompt": f"{at}+1?", "answer": str(at + 1)} for at in range(10, 16)]


def said(episode):
    return [turn["action"].get("text") or "" for turn in episode["turns"]]


def test_a_function_of_ones_own_is_audited():
    def exact(episode):
        return float(bool(episode["turns"]) and said(episode)[-1].strip() == episode["task"]["answer"])

    def anywhere(episode):
        return float(any(episode["task"]["answer"] in text for text in said(episode)))

    strict, lenient = merit_rl.attack(exact, tasks=TASKS), merit_rl.attack(anywhere, tasks=TASKS)
    assert (strict["target"], lenient["target"]) == ("exact", "anywhere")
    assert strict["grade"] < lenient["grade"] == "F"
    assert merit_rl.attack(exact, tasks=TASKS) == strict


def test_a_reward_with_functions_is_audited_and_what_a_function_raises_is_found():
    def fragile(episode):
        return float(episode["turns"][-1]["action"]["text"] == episode["task"]["answer"])

    found = merit_rl.attack(Reward({"type": "function", "function": "f"}, functions={"f": fragile}), tasks=TASKS)
    assert "IndexError" in str(found)
    assert merit_rl.attack(Reward({"type": "maths"}), count=3)["grade"]
    assert merit_rl.attack("final-answer", tasks=TASKS)["grade"]


def test_what_cannot_be_audited_is_refused_in_words():
    with pytest.raises(InputError, match="neither a name, nor a path, nor a Reward"):
        merit_rl.attack(7)
    with pytest.raises(InputError, match="neither a path nor a list"):
        merit_rl.attack("final-answer", tasks=7)
    with pytest.raises(InputError, match="line 1"):
        merit_rl.attack("final-answer", tasks=[{"promt": "?"}])
    with pytest.raises(InputError, match="earn nothing"):
        merit_rl.attack(lambda episode: 0.0)
