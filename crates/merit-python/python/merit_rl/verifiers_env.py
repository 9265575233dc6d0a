"""Environments of verifiers (``verifiers.v1``) as worlds: ``merit_rl.verifiers_env:Env`` is a class for the world ``python``.

    [world]
    type = "python"
    module = "merit_rl.verifiers_env:Env"
    settings = { taskset = { id = "my_environment" } }
    python = ".venv/bin/python"

An episode is one of verifiers, and its own code plays it in this process. Its model is a small server on loopback: what the environment asks
the model is what the policy is shown, and what the policy says is the answer. The reward is that of the trace. Whatever the environment does
wrong raises ``MeritError``, which is an infrastructure failure of the episode and never a reward.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import itertools
import json
import os
import queue
import secrets
import sys
import threading
from collections.abc import Mapping
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.agent import agent_config_fields
from verifiers.v1.runtimes import PrimeConfig
from verifiers.v1.utils.loaders import default_harness_id

import merit_rl.verifiers
from merit_rl.errors import InputError, MeritError

_KEY = "MERIT_RL_POLICY"
_CHAT = "merit_chat"
# verifiers finds a harness by the name of a top-level module.
sys.modules.setdefault(_CHAT, merit_rl.verifiers)


class Env:
    """The environment of a taskset. ``taskset`` are its settings, with the ``id`` by which verifiers finds it; ``env`` are those of the
    environment around it, as in a configuration of verifiers (``{"id": …, "agent": {"max_turns": 8}}``).

    Every agent whose settings name no model of its own speaks with the policy's words, through a harness that only talks unless they name
    another. ``player`` names the agent whose trace has the reward, where there are several. ``tasks`` is the most tasks that are listed.
    ``seconds`` is the time between two words of the policy.

    >>> import pathlib, sys, tempfile
    >>> from merit_rl.verifiers_env import Env
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> written = (folder / "one_sum.py").write_text('''
    ... import verifiers.v1 as vf
    ...
    ... class SumTask(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    ...     @vf.reward
    ...     async def right(self, task, trace):
    ...         return float(trace.last_reply == "42")
    ...
    ... class Sums(vf.Taskset[SumTask, vf.TasksetConfig]):
    ...     def load(self):
    ...         yield SumTask(vf.TaskData(prompt="6*7?"), self.config.task)
    ...
    ... __all__ = ["Sums"]
    ... ''')
    >>> sys.path.append(str(folder))
    >>> env = Env({"id": "one_sum"})
    >>> env.reset(env.tasks()[0])
    '6*7?'
    >>> observation, reward, terminated, truncated, info = env.step("42")
    >>> reward, terminated
    (1.0, True)
    """

    def __init__(
        self,
        taskset: Mapping[str, Any],
        *,
        env: Mapping[str, Any] | None = None,
        player: str | None = None,
        tasks: int = 1000,
        seconds: float = 60.0,
    ) -> None:
        self.seconds, self.talk, self.episodes = seconds, None, itertools.count()
        try:
            self.env = vf.load_environment(vf.resolve_env_config(_talking({**(env or {}), "taskset": taskset})))
            listed = [(_told(task), task) for task in itertools.islice(self.env.taskset, tasks)]
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise InputError(f"verifiers makes no environment of {taskset!r}: {error}") from error
        if not listed:
            raise InputError(f"the taskset {taskset!r} has no tasks")
        if _tools(self.env) and any(harness.id == _CHAT for harness in self.env.config.agent_harnesses().values()):
            raise InputError(f"the tasks of {taskset!r} bring tools, and the policy has no tools; name a harness by `env` that uses them itself")
        agents = list(agent_config_fields(self.env.config))
        self.player = agents[0] if player is None and len(agents) == 1 else player
        if self.player not in agents:
            raise InputError(f"`player` is {player!r}; name the agent whose trace has the reward: {', '.join(map(repr, agents))}")
        self.by_data = {_key(told): task for told, task in listed}
        self.listed = [told for told, _ in listed]
        self._begin()

    def _begin(self):
        """The loop in which the environment plays, and the server that is its model."""
        self.server = _Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        os.environ.setdefault(_KEY, self.server.secret)
        self.server.secret = os.environ[_KEY]
        self.client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{self.server.server_port}/v1", api_key_var=_KEY)
        self.loop, self.stack = asyncio.new_event_loop(), contextlib.AsyncExitStack()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        serving = asyncio.run_coroutine_threadsafe(self.stack.enter_async_context(self.env.serving()), self.loop)
        try:
            serving.result(self.seconds)
        except Exception as error:
            raise InputError(f"verifiers cannot serve this environment: {type(error).__name__}: {error}") from error

    def tasks(self) -> list[dict[str, Any]]:
        """Each the data of a task, with the right answer where the data have it by that name."""
        return self.listed

    def reset(self, task: Mapping[str, Any]) -> str:
        """A new episode, and what its model is asked first."""
        self._end()
        found = self.by_data.get(_key(task))
        if found is None:
            raise MeritError("the taskset has no such task")
        self.talk = talk = _Talk(f"policy-{next(self.episodes)}")
        self.server.talks[talk.model] = talk
        context = ModelContext(model=talk.model, client=self.client)
        talk.episode = asyncio.run_coroutine_threadsafe(self.env.run_episode(found, context), self.loop)
        talk.episode.add_done_callback(lambda _: talk.asked.put(None))
        shown = self._next()
        if shown is None:
            episode = self._over()
            raise MeritError(f"the environment asked its model nothing: {_why(episode)}")
        return shown

    def step(self, action: str) -> tuple[str, float | None, bool, bool, dict[str, Any]]:
        """What came of what the policy said: what the model is asked next, or the reward of the trace."""
        if self.talk is None:
            raise MeritError("`step` without an episode: it is over, or `reset` was not called")
        self.talk.answer(action)
        shown = self._next()
        if shown is not None:
            return shown, None, False, False, {}
        episode = self._over()
        if not episode.ok:
            raise MeritError(f"the episode of verifiers failed: {_why(episode)}")
        traces = [trace for trace in episode.traces if trace.agent.name == self.player]
        if len(traces) != 1:
            raise MeritError(f"the episode has {len(traces)} traces of `{self.player}`; the reward is that of one")
        [trace] = traces
        # A trace that nobody gave a reward counts 0 in verifiers; here it has none.
        paid = [reward.value for reward in trace.rewards.values() if reward is not None]
        info = {name: value for name, value in trace.metrics.items() if value is not None}
        cut = trace.is_truncated or trace.is_timeout
        return "", sum(paid) if paid else None, not cut, cut, info

    def _next(self):
        """What the model is asked next; ``None``: the episode is over."""
        try:
            return self.talk.next(self.seconds)
        except queue.Empty:
            self._end()
            raise MeritError(f"the environment of verifiers asked nothing for {self.seconds:g} s") from None

    def _over(self):
        """The episode that is over."""
        episode = self.talk.episode
        self._end()
        try:
            return episode.result(0)
        except Exception as error:
            raise MeritError(f"the episode of verifiers broke: {type(error).__name__}: {error}") from error

    def _end(self):
        talk, self.talk = self.talk, None
        if talk is not None:
            self.server.talks.pop(talk.model, None)
            talk.close()
            talk.episode.cancel()


def _talking(config):
    """The configuration with a harness that only talks, in this process, wherever it and the taskset name none."""
    talks = default_harness_id((config["taskset"] or {}).get("id", "")) == "bash"
    for name, spec in agent_config_fields(vf.resolve_env_config(config)).items():
        given = dict(config.get(name) or {})
        if talks and spec.harness is None:
            given["harness"] = {"id": _CHAT}
        if isinstance(spec.runtime, PrimeConfig) and "runtime" not in given:
            given["runtime"] = {"type": "subprocess"}
        config = {**config, name: given}
    return config


def _tools(env):
    """The servers of tools that tasks bring."""
    taskset = env.taskset
    return [*type(taskset).task_type().toolsets(taskset.config.task), *taskset.toolsets(taskset.config)]


def _told(task):
    """A task as merit knows it: its data without its place, so that the same task is always the same."""
    return json.loads(task.data.model_dump_json(exclude={"idx"}, exclude_defaults=True))


def _key(told):
    return json.dumps(told, sort_keys=True)


def _why(episode):
    errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
    return f"{errors[-1].type}: {errors[-1].message}" if errors else "it says no reason"


class _Talk:
    """The questions to the model of one episode, one at a time, and their answers."""

    def __init__(self, model):
        self.model, self.episode, self.asked = model, None, queue.Queue()
        self.open, self.seen, self.given_up = queue.Queue(), set(), threading.Event()

    def ask(self, messages):
        """Called by the server: waits for the answer; ``None``: nobody will give it."""
        answer = queue.Queue()
        self.asked.put((messages, answer))
        while not self.given_up.is_set():
            with contextlib.suppress(queue.Empty):
                return answer.get(timeout=0.5)
        return None

    def next(self, seconds):
        """What was said since the question before; ``None``: the episode is over."""
        question = self.asked.get(timeout=seconds)
        if question is None:
            return None
        messages, self.open = question
        return self._new(messages)

    def answer(self, text):
        self.open.put(text)

    def close(self):
        self.given_up.set()
        self.open.put(None)

    def _new(self, messages):
        """What was said since the question before this one; all of it where that was another conversation."""
        known = next((count for count in range(len(messages), 0, -1) if _key(messages[:count]) in self.seen), 0)
        self.seen.add(_key(messages))
        # After a question stands its answer, which the policy knows.
        first = known + 1 if known and messages[known : known + 1] and messages[known]["role"] == "assistant" else known
        return "\n\n".join(_content(message) for message in messages[first:])


def _content(message):
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


class _Server(http.server.ThreadingHTTPServer):
    """Chat completions for the environments of this process alone."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Completions)
        self.talks, self.secret = {}, secrets.token_hex(16)


class _Completions(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != f"Bearer {self.server.secret}":
            return self._say(401, {"error": {"message": "this is the policy of another process"}})
        try:
            asked = json.loads(body)
            model, messages = asked["model"], list(asked["messages"])
        except (ValueError, KeyError, TypeError):
            return self._say(400, {"error": {"message": "the policy answers chat completions and nothing else"}})
        if not self.path.endswith("/chat/completions") or asked.get("stream") or asked.get("tools"):
            return self._say(400, {"error": {"message": "the policy answers chat completions whole, and calls no tools by a list"}})
        talk = self.server.talks.get(model)
        text = None if talk is None else talk.ask(messages)
        if text is None:
            return self._say(410, {"error": {"message": "the episode was given up"}})
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._say(200, {"id": model, "object": "chat.completion", "created": 0, "model": model, "choices": [choice]})

    def _say(self, status, told):
        body = json.dumps(told).encode()
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass
