"""Worlds that are servers of OpenEnv, made with its own server code, over loopback."""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

import examples
import guide
import pytest

import merit_rl
from merit_rl.openenv import Env

SERVER = pathlib.Path(__file__).with_name("openenv_server.py")


@contextlib.contextmanager
def serving(sessions=64):
    """A server of its own: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), str(port), str(sessions)])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                assert json.load(urllib.request.urlopen(f"{url}/health", timeout=5)) == {"status": "healthy"}
                break
            assert process.poll() is None, "the server ended"
            time.sleep(0.1)
        yield url, process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server():
    with serving() as (url, _):
        yield url


def recipe(url, **settings):
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {"url": url, "action": "message", **settings}.items())
    return f"""
name = "openenv"
about = "an environment of OpenEnv"
[world]
type = "python"
module = "merit_rl.openenv:Env"
settings = {{ {given} }}
python = "{sys.executable}"
[rollout]
max_turns = 3
[reward]
type = "solved-by"
term = "environment-reward"
of = {{ type = "sum", of = [{{ type = "environment-reward" }}] }}
[credit]
type = "grpo"
[budget]
steps = 1
groups = 4
group_size = 2
"""


def word(messages):
    return messages[0]["content"].split("word")[1].split()[0]


def right(messages):
    return "hello" if len(messages) == 1 else "word" + word(messages)


def test_a_recipe_plays_a_server_and_the_reward_is_the_servers(server):
    played = merit_rl.rollout(recipe(server), right, tasks=3, seed=1, concurrency=3)
    assert [score.reward for score, _ in played] == [1.25] * 3
    for score, episode in played:
        assert [turn["reward"] for turn in episode["turns"]] == [0.25, 1.0] and episode["end"]["type"] == "environment-done"
    seeds = {episode["task"]["payload"]["task"]["seed"] for _, episode in played}
    assert len(seeds) == 3


def test_a_server_that_is_killed_in_an_episode_is_an_infrastructure_failure_and_never_a_reward():
    with serving() as (url, process):

        def policy(messages):
            if len(messages) > 1:
                process.kill()
                process.wait()
            return "hello"

        [(score, episode)] = merit_rl.rollout(recipe(url), policy, tasks=1, seed=1)
    assert (score.reward, score.outcome) == (None, "infrastructure failed")
    assert episode["end"]["type"] == "failed" and "OpenEnv server" in json.dumps(episode["end"])


def test_whatever_the_server_does_wrong_has_no_reward(server):
    env = Env(server, action="message")
    for said, why in (("raise", "out of order"), ("wrong", "VALIDATION_ERROR")):
        env.reset(1)
        with pytest.raises(merit_rl.MeritError, match=why) as raised:
            env.step(said)
        # The policy would be told of a ValueError.
        assert not isinstance(raised.value, ValueError)
        with pytest.raises(merit_rl.MeritError, match="without a session"):
            env.step("hello")


def test_what_is_no_action_is_told_to_the_policy_and_nothing_happens(server):
    env = Env(server, action="message", state=True)
    env.reset(1)
    with pytest.raises(ValueError, match="message: String should have at least 1 character"):
        env.step("")
    assert env.state_to_record()["step_count"] == 0
    assert env.step("hi")[1:] == (0.25, False) and env.state_to_record()["step_count"] == 1
    by_json = Env(server)
    by_json.reset(1)
    for said in ("hello", "7", "[" * 100_000):
        with pytest.raises(ValueError, match="JSON object with `message`, `loud`"):
            by_json.step(said)
    with pytest.raises(ValueError, match="tone: Extra"):
        by_json.step('{"message": "hi", "tone": 2}')
    assert by_json.step('{"message": "hi", "loud": true}')[0] == {"echoed": "HI", "left": 2}


def test_fields_observation_and_reset_are_settings(server):
    env = Env(server, fields={"loud": True}, observation="echoed", reset={"start": "write"})
    assert env.reset(7) == "write word7"
    assert env.step("hi") == ("HI", 0.25, False)
    assert env.step("silent")[1] is None
    assert env.step("word7") == ("WORD7", 1.0, True)


def test_a_session_is_free_once_its_episode_is_over():
    with serving(sessions=1) as (url, _):
        first, second = Env(url, action="message"), Env(url, action="message")
        first.reset(1)
        with pytest.raises(merit_rl.MeritError, match="max_concurrent_envs"):
            second.reset(2)
        assert first.step("word1")[2]
        second.reset(2)
        assert second.step("word2")[2]
        second.reset(3)
        with pytest.raises(merit_rl.MeritError, match="is gone"):
            second.step("die")


def test_what_cannot_be_played_is_refused_in_words(server):
    with pytest.raises(merit_rl.InputError, match="remote = true"):
        Env("http://192.0.2.1:8000")
    with pytest.raises(merit_rl.InputError, match="no field `massage`"):
        Env(server, action="massage")
    with pytest.raises(merit_rl.InputError, match="needs `message` beside `loud`"):
        Env(server, action="loud")
    with pytest.raises(merit_rl.MeritError, match="no OpenEnv server answers"):
        Env("http://127.0.0.1:9")
    with pytest.raises(merit_rl.InputError, match="no OpenEnv server answers"):
        merit_rl.rollout(recipe("http://127.0.0.1:9"), right, tasks=1)


def test_the_program_of_the_page_runs(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide.run("openenv.md", URL=server)


def test_examples_run(server):
    examples.run("merit_rl.openenv", URL=server)
