"""verifiers itself, with a model that is a small server in this process: rewards and worlds of merit."""

import asyncio
import http.server
import json
import threading

import guide
import pytest

vf = pytest.importorskip("verifiers.v1")
from verifiers.v1.clients import ModelContext  # noqa: E402

import merit_rl  # noqa: E402
from merit_rl import verifiers as by_merit  # noqa: E402


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
    servers = []

    def serve(policy):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = {"role": "assistant", "content": policy(asked["messages"])}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                told = {"id": "1", "object": "chat.completion", "created": 0, "model": "fake", "choices": [choice], "usage": usage}
                body = json.dumps(told).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key_var="NO_KEY")
        return ModelContext(model="fake", client=client)

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


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


def test_the_program_of_the_page_runs(model):
    names = guide.run("verifiers.md", CLIENT=model(lambda messages: "42").client)
    assert names["trace"].reward == 1.0
