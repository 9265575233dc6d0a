"""Worlds, tools and rollouts: the same rules as under `merit train`."""

import json
import re
import sys
import warnings

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env

import merit_rl
import merit_rl.gym
from merit_rl import InputError, Reward, Tool, World


def test_every_world_that_needs_nothing_from_outside_is_played_right_by_its_expert():
    for name in merit_rl.names("worlds"):
        if name in ("tasks", "command", "mix", "python", "openenv"):
            continue
        world = World(name)
        task = world.task("held-out", 0)
        env = world.open(task)
        assert env.reset()
        steps = [env.step(said) for said in world.demonstrate(task)]
        assert steps[-1]["terminated"] and env.done, name


def test_a_world_continues_from_a_snapshot_as_if_nothing_had_happened():
    world = World("vault")
    task = world.task()
    said = world.demonstrate(task)
    first = world.open(task)
    first.reset()
    first.step(said[0])
    other = world.open(task, state=first.snapshot())
    for line in said[1:]:
        assert first.step(line) == other.step(line)
    assert first.done and other.done and first.snapshot() == other.snapshot()


def test_settings_are_checked_and_named():
    with pytest.raises(InputError, match="did you mean `kbqa`"):
        World("kbqaa")
    with pytest.raises(InputError):
        World("kbqa", nois=0.3)
    with pytest.raises(InputError, match="held-out"):
        World("kbqa").task("heldout")


def test_a_played_world_is_scored_like_any_episode():
    world = World("ledger")
    task = world.task("held-out", 1)
    env = world.open(task)
    env.reset()
    for said in world.demonstrate(task):
        env.step(said)
    wrong = world.open(task)
    wrong.reset()
    wrong.step("answer 0")
    reward = Reward("ledger-tools")
    assert [score.outcome for score in reward.score([env, wrong])] == ["solved", "policy wrong"]


def test_played_worlds_are_compared_with_those_of_their_own_task_alone():
    world = World("ledger")

    def played(index, answer):
        env = world.open(world.task("held-out", index))
        env.reset()
        env.step(answer)
        return env

    distinct = Reward({"type": "majority"})
    alone = [score.terms for score in distinct.score([played(0, "answer 1"), played(0, "answer 1")])]
    beside = distinct.score([played(0, "answer 1"), played(1, "answer 2"), played(0, "answer 1"), played(1, "answer 2")])
    assert [beside[0].terms, beside[2].terms] == alone and beside[1].terms == beside[0].terms


def test_an_episode_is_cut_at_its_turns():
    env = World("ledger").open(World("ledger").task(), max_turns=2)
    env.reset()
    assert not env.step("what?")["truncated"]
    assert env.step("what?")["truncated"]
    with pytest.raises(merit_rl.MeritError, match="over"):
        env.step("what?")


def test_tools_answer_refuse_and_time_out_by_name():
    assert Tool("calc").call("6*7") == ("ok", "42")
    assert Tool("calc").call("6*")[0] == "refused"
    session = Tool("python").open()
    assert session.call("x = 41") [0] == "ok"
    assert session.call("print(x + 1)") == ("ok", "42\n") or "42" in session.call("print(x + 1)")[1]
    with pytest.raises(InputError, match="did you mean `calc`"):
        Tool("cal")


def test_rollouts_are_the_same_at_any_concurrency_and_in_parts():
    world = World.of_recipe("sums-tools")

    def policy(messages):
        task_said = messages[0]["content"] if messages else ""
        return "answer " + str(len(task_said) % 7)

    whole = merit_rl.rollout("sums-tools", policy, tasks=6, seed=3)
    threads = merit_rl.rollout("sums-tools", policy, tasks=6, seed=3, concurrency=6)
    parts = [one for at in range(6) for one in merit_rl.rollout("sums-tools", policy, tasks=6, seed=3, groups=(at, at + 1))]

    def told(played):
        return [(score.reward, score.outcome, json.dumps(episode["transcript"])) for score, episode in played]

    assert told(whole) == told(threads) == told(parts)
    assert world.name == "sums"


def test_a_policy_that_raises_has_no_reward_and_harms_nobody():
    def policy(messages):
        raise TimeoutError("the server is gone")

    played = merit_rl.rollout("sums-tools", policy, tasks=2)
    assert [(score.reward, score.outcome) for score, _ in played] == [(None, "infrastructure failed")] * 2


MORTAL = """
import os

def double(number: int) -> int:
    "Doubles a number."
    if number % 2:
        os._exit(1)
    return 2 * number
"""


def test_of_a_storm_of_tools_that_die_no_episode_is_lost_and_none_is_paid_wrongly(tmp_path):
    (tmp_path / "mortal.py").write_text(MORTAL)
    tasks = [{"prompt": f"Double {number}.", "answer": str(2 * number), "split": "train"} for number in range(200)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    recipe = f"""
name = "storm"
about = "every other call kills its worker"
[world]
type = "tasks"
file = "{tmp_path}/tasks.jsonl"
calls = "hermes"
[[world.tools]]
type = "python-tool"
module = "{tmp_path}/mortal.py:double"
python = "{sys.executable}"
[reward]
type = "exact-answer"
[credit]
type = "grpo"
[budget]
steps = 1
groups = 4
group_size = 2
"""

    def policy(messages):
        number = re.search(r"Double (\d+)", "\n".join(message["content"] for message in messages))[1]
        if any(message["role"] == "assistant" for message in messages):
            # Wrong in every fourth that lives: what is paid is what was said.
            return str(2 * int(number) + (int(number) % 8 == 6))
        return f'<tool_call>{{"name": "double", "arguments": {{"number": {number}}}}}</tool_call>'

    played = merit_rl.rollout(recipe, policy, tasks=200, split="train", concurrency=8)
    died = 0
    for score, episode in played:
        number = int(episode["task"]["answer"]) // 2
        if number % 2:
            died += 1
            assert (score.reward, score.outcome) == (None, "infrastructure failed"), episode["end"]
        else:
            assert (score.reward, score.outcome) == ((0.0, "policy wrong") if number % 8 == 6 else (1.0, "solved"))
    assert len(played) == 200 and 60 < died < 140


def test_gymnasium_makes_every_world():
    env = gymnasium.make("merit/ledger", split="held-out", reward="ledger-tools")
    shown, told = env.reset(seed=1, options={"index": 2})
    assert isinstance(shown, str) and told["task"].startswith("ledger/held-out")
    world = World("ledger")
    for said in world.demonstrate(world.task("held-out", 2)):
        shown, reward, terminated, truncated, told = env.step(said)
    assert reward >= told["terms"]["exact-answer"] == 1.0
    assert (terminated, truncated, told["outcome"]) == (True, False, "solved")
    again, _ = gymnasium.make("merit/ledger").reset(seed=5)
    assert again == gymnasium.make("merit/ledger").reset(seed=5)[0]
    assert gymnasium.make_vec("merit/ledger", num_envs=2).num_envs == 2
    assert "merit_rl.gym:TextEnv" in env.spec.to_json()


@pytest.mark.parametrize("more", [{"reward": "sums-tools"}, {"unpaid": 0.0}])
def test_worlds_keep_the_contract_of_gymnasium(more):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("merit/sums", **more)
        assert "PassiveEnvChecker" in str(env)
        check_env(env.unwrapped)
        env.action_space.seed(1)
        shown, _ = env.reset(seed=1)
        assert shown in env.observation_space and not shown.isalnum()
        env.step(env.action_space.sample())
    env.close()


def test_any_text_is_said_and_shown():
    texts = merit_rl.gym.AnyText(8, seed=1)
    assert all(text in texts for text in ("", "6 * 7?", "été…", "\n"))
    assert "123456789" not in texts and 7 not in texts
    drawn = [texts.sample() for _ in range(100)]
    assert all(text in texts for text in drawn) and {len(text) for text in drawn} == set(range(9))
    assert all(len(merit_rl.gym.AnyText().sample()) <= 64 for _ in range(10))
    assert len(texts.sample(mask=(3, None))) == 3
    again = merit_rl.gym.AnyText(8, seed=1)
    assert [again.sample() for _ in range(100)] == drawn and again == texts != merit_rl.gym.AnyText(9)


def test_a_step_that_nobody_pays_is_no_zero():
    env = merit_rl.make("sums")
    env.reset(seed=1)
    with pytest.raises(InputError, match="`sums` pays nothing for this step.*`unpaid=0.0`"):
        env.step("answer 7")
    said = merit_rl.make("sums", unpaid=-0.5)
    said.reset(seed=1)
    assert said.step("answer 7")[1] == -0.5
    with pytest.raises(InputError, match="leave `unpaid` out"):
        merit_rl.make("sums", reward="sums-tools", unpaid=0.0)


def test_environments_step_together():
    envs = merit_rl.gym.TextVectorEnv("sums", 3, reward="sums-tools", max_turns=2)
    shown, told = envs.reset(seed=1)
    assert len(shown) == 3 and len(set(told["task"])) == 3
    shown, rewards, ended, cut, _ = envs.step(["answer 1"] * 3)
    assert isinstance(rewards, numpy.ndarray) and rewards.shape == (3,) and (ended | cut).all()
    _, rewards, ended, cut, _ = envs.step(["ignored"] * 3)
    assert not (ended | cut).any() and (rewards == 0).all()
