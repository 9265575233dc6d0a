"""verifiers itself, with a model that is a small server in this process: rewards and worlds of merit, and environments of verifiers as worlds."""

import asyncio
import contextlib
import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

import chat
import examples
import guide
import openai
import pytest
import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext

import merit_rl
from merit_rl import verifiers as by_merit
from merit_rl.verifiers_env import Env


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The module by whose name verifiers finds the environment, and a home without settings."""
    text = "from merit_rl.verifiers import *\nfrom merit_rl.verifiers import __all__\n"
    (tmp_path / "merit_world.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_KEY", "none")


@pytest.fixture
def model(home):
    """A model for `policy(messages)`: the context that verifiers plays with."""
    with contextlib.ExitStack() as servers:

        def serve(policy):
            url = servers.enter_context(chat.serving(policy))
            return ModelContext(model="fake", client=vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY"))

        yield serve


def play(context, tasks=2, **taskset):
    config = vf.resolve_env_config({"taskset": {"id": "merit_world", "tasks": tasks, **taskset}})
    env = vf.load_environment(config)

    async def episodes():
        async with env.serving():
            return [await env.run_episode(task, context) for task in env.taskset]

    return asyncio.run(episodes())


def expert(world, split, tasks):
    """A policy that says what the world's expert would, turn by turn."""
    said = {}
    for index in range(tasks):
        task = world.task(split, index)
        env = world.open(task, seed=index)
        said[env.reset()[-1]["content"]] = world.demonstrate(task)

    def policy(messages):
        first = next(message["content"] for message in messages if message["role"] == "user")
        return said[first][sum(message["role"] == "assistant" for message in messages)]

    return policy


def test_a_world_is_played_to_its_end_and_scored_by_its_reward(model):
    context = model(expert(merit_rl.World("ledger"), "held-out", 2))
    episodes = play(context, world="ledger", split="held-out", reward="ledger-tools")
    for episode in episodes:
        assert episode.ok, episode.errors
        [trace] = episode.traces
        assert trace.reward >= trace.metrics["merit/exact-answer"] == 1.0
        assert trace.info["merit"]["outcome"] == "solved" and trace.num_turns > 1


def test_a_wrong_answer_and_a_cut_episode_have_a_reward(model):
    [wrong, _] = play(model(lambda messages: "answer 0"), world="ledger", reward="ledger-tools")
    assert wrong.ok and wrong.traces[0].info["merit"]["outcome"] == "policy-wrong"
    [cut] = play(model(lambda messages: "what?"), tasks=1, world="ledger", reward="ledger-tools", max_turns=3)
    assert cut.ok and cut.traces[0].num_turns == 3 and cut.traces[0].info["merit"]["outcome"] == "policy-timed-out"


def test_an_episode_without_a_verdict_is_an_error_and_not_a_zero(model):
    # It pays what somebody reported, and nobody did.
    [episode] = play(model(lambda messages: "answer 0"), tasks=1, world="ledger", reward='type = "reported"')
    assert not episode.ok and "no reward" in episode.errors[0].message and "merit" not in episode.traces[0].rewards


def test_a_world_that_breaks_is_an_error_and_not_a_zero(model, monkeypatch):
    opened = by_merit.MeritTaskset.open

    class Broken:
        done = False

        def __init__(self, env):
            self.reset = env.reset

        def step(self, text):
            raise merit_rl.MeritError("the world is gone")

    monkeypatch.setattr(by_merit.MeritTaskset, "open", lambda taskset, data: Broken(opened(taskset, data)))
    [episode] = play(model(lambda messages: "answer 0"), tasks=1, world="ledger", reward="ledger-tools")
    assert not episode.ok and "the world is gone" in episode.errors[0].message and "merit" not in episode.traces[0].rewards


class Sum(vf.TaskData):
    answer: str


class SumTask(vf.Task[Sum, vf.State, vf.TaskConfig]):
    right = by_merit.reward({"type": "maths"}, weight=2.0)


def test_a_reward_of_merit_is_a_reward_of_a_task(model):
    context = model(lambda messages: "42")
    agent = vf.AgentConfig(
        harness=by_merit.MeritHarnessConfig(), runtime=vf.SubprocessConfig(), model=context.model, client=context.client
    )

    async def run(answer):
        return await vf.make_agent(agent).run(SumTask(Sum(prompt="6*7?", answer=answer)))

    right, wrong, unreadable = (asyncio.run(run(answer)) for answer in ("42", "41", ""))
    assert (right.ok, right.reward, right.metrics["merit/maths"]) == (True, 2.0, 1.0)
    assert (wrong.ok, wrong.reward) == (True, 0.0)
    assert not unreadable.ok and unreadable.last_error.type == "TaskError" and "no reward" in unreadable.last_error.message


# Environments of verifiers: one question each, and a game of several turns that does what it is told.
SUMS = """
import verifiers.v1 as vf

class Sum(vf.TaskData):
    answer: str

class SumTask(vf.Task[Sum, vf.State, vf.TaskConfig]):
    @vf.reward(weight=2.0)
    async def right(self, task, trace):
        if trace.last_reply == "raise":
            raise RuntimeError("the rubric is torn")
        return float(trace.last_reply.strip() == task.answer)

    @vf.metric
    async def length(self, trace):
        return float(len(trace.last_reply))

class SumSet(vf.Taskset[SumTask, vf.TasksetConfig]):
    def load(self):
        for a in range(24):
            prompt = [vf.SystemMessage(content="Add up."), vf.UserMessage(content=f"{a}+{a}?")]
            yield SumTask(Sum(prompt=prompt, answer=str(a + a)), self.config.task)

__all__ = ["SumSet"]
"""
GUESS = """
import asyncio, os
import verifiers.v1 as vf

class Number(vf.TaskData):
    secret: int

class NumberTask(vf.Task[Number, vf.State, vf.TaskConfig]):
    pass

class Numbers(vf.Taskset[NumberTask, vf.TasksetConfig]):
    def load(self):
        for secret in range(2, 26):
            yield NumberTask(Number(prompt="Guess a number from 2 to 25.", secret=secret), self.config.task)

class GuessConfig(vf.EnvConfig):
    guesser: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())

class GuessEnv(vf.Env[GuessConfig]):
    async def run(self, task, agents):
        said, paid = None, None
        async with agents.guesser.interaction(task) as talk:
            segment = await talk.turn()
            while not segment.terminated and paid is None and said != "stop":
                said = segment.last_reply
                if said == "raise":
                    raise RuntimeError("the numbers are gone")
                if said == "die":
                    os._exit(3)
                if said == "sleep":
                    await asyncio.sleep(60)
                if said.isdigit() and int(said) == task.data.secret:
                    paid = 1.0
                elif said != "stop":
                    segment = await talk.turn("low" if said.isdigit() and int(said) < task.data.secret else "high")
        if paid is not None:
            talk.trace.record_reward("found", paid)

__all__ = ["Numbers", "GuessEnv"]
"""


TOOLS = """
import verifiers.v1 as vf

class Clock(vf.Toolset):
    pass

class ClockTask(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    @classmethod
    def toolsets(cls, config):
        return [Clock(vf.ToolsetConfig())]

class Clocks(vf.Taskset[ClockTask, vf.TasksetConfig]):
    def load(self):
        yield ClockTask(vf.TaskData(prompt="What time is it?"), self.config.task)

__all__ = ["Clocks"]
"""


@pytest.fixture
def environments(home, tmp_path, monkeypatch):
    """The modules of the environments, where this process and a worker of merit's find them."""
    (tmp_path / "sums_env.py").write_text(SUMS)
    (tmp_path / "guess_env.py").write_text(GUESS)
    (tmp_path / "tools_env.py").write_text(TOOLS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def recipe(taskset, turns=6, **settings):
    given = ", ".join(f"{key} = {toml(value)}" for key, value in {"taskset": {"id": taskset}, **settings}.items())
    return f"""
name = "verifiers"
about = "an environment of verifiers"
[world]
type = "python"
module = "merit_rl.verifiers_env:Env"
settings = {{ {given} }}
python = "{sys.executable}"
[rollout]
max_turns = {turns}
[reward]
type = "solved-by"
term = "environment-reward"
of = {{ type = "environment-reward" }}
[credit]
type = "grpo"
[budget]
steps = 1
groups = 4
group_size = 2
"""


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def halving(messages):
    """Guesses by what it was told."""
    low, high = 2, 25
    for said, told in zip(messages[1::2], messages[2::2]):
        guess = int(said["content"])
        low, high = (guess + 1, high) if told["content"] == "low" else (low, guess - 1)
    return str((low + high) // 2)


def test_tasks_messages_and_rubric_of_an_environment_are_a_world_of_merit(environments):
    def policy(messages):
        assert messages[0]["content"].startswith("Add up.\n\n")
        number = int(messages[0]["content"].split("\n\n")[1].split("+")[0])
        return str(2 * number if number % 2 else 0)

    played = merit_rl.rollout(recipe("sums_env"), policy, tasks=6, seed=1)
    for score, episode in played:
        task = episode["task"]["payload"]["task"]
        right = int(task["answer"]) % 4 == 2
        assert episode["task"]["answer"] == task["answer"]
        assert (score.reward, episode["end"]["type"]) == (2.0 if right or task["answer"] == "0" else 0.0, "environment-done")
        [turn] = episode["turns"]
        assert turn["info"]["length"] == len(turn["action"]["text"])
    assert {score.reward for score, _ in played} == {0.0, 2.0}


def test_a_game_of_several_turns_is_played_to_its_end_and_cut_where_merit_cuts_it(environments):
    for score, episode in merit_rl.rollout(recipe("guess_env"), halving, tasks=4, seed=2):
        assert score.reward == 1.0 and episode["end"]["type"] == "environment-done"
        assert [turn.get("reward") for turn in episode["turns"]] == [None] * (len(episode["turns"]) - 1) + [1.0]
        told = [segment["text"].strip() for segment in episode["transcript"] if segment["role"] != "policy"]
        assert told[0].endswith("Guess a number from 2 to 25.") and set(told[1:]) <= {"low", "high", ""}
    [(cut, episode)] = merit_rl.rollout(recipe("guess_env", turns=2), lambda messages: "1", tasks=1, seed=2)
    assert len(episode["turns"]) == 2 and episode["end"] == {"type": "truncated", "limit": "turns"} and cut.reward is None
    # The agent's own limit is the environment's.
    own = recipe("guess_env", env={"guesser": {"max_turns": 3}})
    [(cut, episode)] = merit_rl.rollout(own, lambda messages: "1", tasks=1, seed=2)
    assert len(episode["turns"]) == 3 and episode["end"] == {"type": "truncated", "limit": "environment"}


def test_an_environment_that_dies_is_an_infrastructure_failure_and_the_next_episode_is_fine(environments):
    words = iter(["die"])
    [(broken, episode), (fine, _)] = merit_rl.rollout(recipe("guess_env"), lambda messages: next(words, "stop"), tasks=2, seed=1)
    assert (broken.reward, broken.outcome) == (None, "infrastructure failed") and "it ended with exit status: 3" in json.dumps(episode["end"])
    # An episode that nobody rewarded has no reward, which is no 0.
    assert (fine.reward, fine.outcome) != (0.0, "policy wrong") and fine.outcome != "infrastructure failed" and fine.reward is None


@pytest.mark.parametrize(
    ("taskset", "word", "why"),
    [
        ("sums_env", "raise", "TaskError: .*the rubric is torn"),
        ("guess_env", "raise", "RuntimeError: the numbers are gone"),
        ("guess_env", "sleep", "asked nothing for 1 s"),
    ],
)
def test_whatever_an_environment_does_wrong_has_no_reward(environments, taskset, word, why):
    env = Env({"id": taskset}, seconds=1.0)
    [first, second] = env.tasks()[:2]
    assert env.reset(first)
    with pytest.raises(merit_rl.MeritError, match=why) as raised:
        env.step(word)
    # The policy would be told of a ValueError.
    assert not isinstance(raised.value, ValueError)
    with pytest.raises(merit_rl.MeritError, match="without an episode"):
        env.step("1")
    assert env.reset(second) and env.step("1")
    # One that is left in the middle is over too.
    assert env.reset(first) and env.step("1")


def test_what_is_no_environment_is_refused_in_words(environments):
    for taskset, more, why in [
        ("no_such_env", {}, "not found"),
        ("sums_env", {"env": {"agnet": {}}}, "agnet"),
        ("tools_env", {}, "bring tools, and the policy has no tools"),
        ("guess_env", {"player": "agent"}, "name the agent whose trace has the reward: 'guesser'"),
    ]:
        with pytest.raises(merit_rl.InputError, match=why):
            Env({"id": taskset}, **more)
    with pytest.raises(merit_rl.InputError, match="bring tools"):
        merit_rl.rollout(recipe("tools_env"), halving, tasks=1)


def test_nobody_else_speaks_for_the_policy(environments):
    env = Env({"id": "sums_env"})
    url = f"http://127.0.0.1:{env.server.server_port}/v1/chat/completions"
    for headers, status in (({}, 401), ({"Authorization": f"Bearer {env.server.secret}"}, 410)):
        asked = json.dumps({"model": "policy-9", "messages": []}).encode()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, asked, headers), timeout=10)
        assert refused.value.code == status


def test_a_client_of_openai_is_a_policy():
    def words(messages):
        told = sum(len(message["content"]) for message in messages)
        return "what?" if len(messages) < 4 else f"answer {told % 9}"

    with chat.serving(words) as url:
        client = openai.OpenAI(base_url=url, api_key="none")

        def policy(messages):
            told = client.chat.completions.create(model="fake", messages=messages)
            return told.choices[0].message.content

        asked = merit_rl.rollout("sums-tools", policy, tasks=6, seed=3, concurrency=3)
    here = merit_rl.rollout("sums-tools", words, tasks=6, seed=3)
    assert [(score.to_dict(), one["transcript"]) for score, one in asked] == [(score.to_dict(), one["transcript"]) for score, one in here]
    assert all(len(one["turns"]) > 1 for _, one in asked)


def test_examples_run(home):
    examples.run("merit_rl.verifiers")
    examples.run("merit_rl.verifiers_env")


def test_the_program_of_the_page_runs(model, monkeypatch):
    # The page's environment lies beside the other programs of the documentation.
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(os.environ["MERIT_ROOT"]) / "docs" / "python"))
    names = guide.run("verifiers.md", CLIENT=model(lambda messages: "42").client)
    assert names["trace"].reward == 1.0 and [score.reward for score, _ in names["played"]] == [1.0] * 4
