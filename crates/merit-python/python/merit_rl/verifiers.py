"""merit under verifiers (``verifiers.v1``, the environments of prime-rl): rewards for tasks, and worlds as environments.

``reward(source)`` is an attribute of a ``vf.Task``. ``MeritTaskset`` and ``MeritEnv`` are the tasks and the episodes of a world: the model
talks, and the world answers as the user. verifiers finds an environment by the name of a top-level module, so make one:

    from merit_rl.verifiers import *  # merit_world.py; its id is "merit_world"
    from merit_rl.verifiers import __all__

A trace without a reward counts 0 in verifiers. Where there is no verdict an error is recorded instead: on the trace by a task's reward, on
the episode by an environment. Neither is ``ok`` then.
"""

import asyncio
from typing import Any

import httpx
import verifiers.v1 as vf

from merit_rl._merit import Reward, World
from merit_rl.errors import MeritError

__all__ = ["MeritEnv", "MeritHarness", "MeritTaskset"]


def reward(source, *, answer="answer", weight=1.0):
    """A reward of merit as a reward of a ``vf.Task``: ``right = reward("final-answer")`` in the body of the class.

    ``answer`` names the field of the task's data with the right answer. Every term is a metric of the trace.
    """
    made = source if isinstance(source, Reward) else Reward(source)

    @vf.reward(weight=weight)
    async def merit(self, task, trace):
        right = getattr(task, answer, None)
        row = {"messages": [_plain(message) for message in trace.messages]}
        if right is not None:
            row["answer"] = str(right)
        [score] = await asyncio.to_thread(made.score, [row])
        return _record(trace, score)

    return merit


def _plain(message):
    told = {"role": message.role, "content": message.content if isinstance(message.content, str) else _text(message.content)}
    if getattr(message, "tool_calls", None):
        told["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if getattr(message, "tool_call_id", None):
        told["tool_call_id"] = message.tool_call_id
    return told


def _text(parts):
    return "\n".join(part.text for part in parts or [] if part.type == "text")


def _record(trace, score):
    trace.info["merit"] = score.to_dict()
    trace.record_metrics({f"merit/{name}": value for name, value in score.terms.items() if value is not None})
    if score.reward is None:
        raise MeritError(f"no reward ({score.outcome}): {score.to_dict()['score']}")
    return score.reward


class MeritData(vf.TaskData):
    task: dict[str, Any]
    """The task as the world made it."""
    seed: int = 0


class MeritTask(vf.Task[MeritData, vf.State, vf.TaskConfig]):
    pass


class MeritConfig(vf.TasksetConfig):
    world: str = "ledger"
    settings: dict[str, Any] = {}
    """Settings of the world, as in a recipe."""
    split: str = "train"
    tasks: int = 64
    reward: str = "final-answer"
    """Scores the episode: the name of a reward or a recipe, a file, or TOML."""
    max_turns: int = 32


class MeritTaskset(vf.Taskset[MeritTask, MeritConfig]):
    """The tasks of a world, with what the world says first as the prompt."""

    def __init__(self, config):
        super().__init__(config)
        self.world = World(config.world, **config.settings)
        self.reward = Reward(config.reward)

    def open(self, data):
        return self.world.open(data.task, seed=data.seed, max_turns=self.config.max_turns)

    def load(self):
        for index in range(self.config.tasks):
            task = self.world.task(self.config.split, index)
            data = MeritData(name=task["id"], id=task["id"], task=task, seed=index)
            yield MeritTask(data.model_copy(update={"prompt": _messages(self.open(data).reset())}), self.config.task)


def _messages(told):
    # What a tool of the world says is told by the world: no call of the model's asked for it by an id.
    kinds = {"system": vf.SystemMessage, "assistant": vf.AssistantMessage}
    return [kinds.get(message["role"], vf.UserMessage)(content=message["content"]) for message in told]


class MeritEnvConfig(vf.EnvConfig):
    taskset: MeritConfig = MeritConfig()
    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """Whoever plays; it only talks, so its runtime runs nothing."""


class MeritEnv(vf.Env[MeritEnvConfig]):
    """One episode: what the model says is a step of the world, until the world or a limit ends it; then the reward scores it."""

    async def run(self, task, agents):
        env = self.taskset.open(task.data)
        env.reset()
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                step = await asyncio.to_thread(env.step, segment.last_reply)
                if env.done:
                    break
                segment = await interaction.turn(_messages(step["messages"]) or "Go on.")
        trace = interaction.trace
        if not trace.ok:
            return  # The model's side broke; the trace says how.
        [score] = await asyncio.to_thread(self.taskset.reward.score, [env])
        trace.record_reward("merit", _record(trace, score))


class MeritHarnessConfig(vf.HarnessConfig):
    id: str = "merit_world"
    """The name of your module."""


class MeritHarness(vf.Harness[MeritHarnessConfig]):
    """Sends the conversation to the model and takes one reply, in this process: no program is installed."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [_plain(one) for one in prompt or []]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        async with httpx.AsyncClient(timeout=None, headers={"Authorization": f"Bearer {secret}"}) as client:
            reply = await client.post(f"{endpoint}/chat/completions", json={"model": ctx.model, "messages": messages})
        return vf.ProgramResult(0 if reply.is_success else 1, "", "" if reply.is_success else reply.text)
