"""merit under verifiers (``verifiers.v1``, the environments of prime-rl): rewards for tasks, and worlds as environments.

``reward(source)`` is an attribute of a ``vf.Task``. ``MeritTaskset`` and ``MeritEnv`` are the tasks and the episodes of a world: the model
talks, and the world answers as the user. verifiers finds an environment by the name of a top-level module, so make one:

    from merit_rl.verifiers import *  # merit_world.py; its id is "merit_world"
    from merit_rl.verifiers import __all__

A trace without a reward counts 0 in verifiers. Where there is no verdict an error is recorded instead: on the trace by a task's reward, on
the episode by an environment. Neither is ``ok`` then.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import verifiers.v1 as vf

from merit_rl._given import RewardSource
from merit_rl._merit import Env, Reward, World
from merit_rl.errors import MeritError

__all__ = ["MeritEnv", "MeritHarness", "MeritTaskset"]


def reward(source: RewardSource, *, answer: str = "answer", weight: float = 1.0) -> Callable[..., Any]:
    """A reward of merit as a reward of a ``vf.Task``: ``right = reward("final-answer")`` in the body of the class.

    ``answer`` names the field of the task's data with the right answer. Every term is a metric of the trace.

    >>> import verifiers.v1 as vf
    >>> from merit_rl.verifiers import reward
    >>> class SumTask(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    ...     right = reward({"type": "maths"}, weight=2.0)
    >>> callable(SumTask.right)
    True
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
    """What a task of a world holds.

    >>> import merit_rl
    >>> from merit_rl.verifiers import MeritData
    >>> task = merit_rl.World("ledger").task("train", 0)
    >>> MeritData(name=task["id"], id=task["id"], task=task).seed
    0
    """

    task: dict[str, Any]
    """The task as the world made it."""
    seed: int = 0


class MeritTask(vf.Task[MeritData, vf.State, vf.TaskConfig]):
    """A task of a world. It has no reward of its own: ``MeritEnv`` scores what was played.

    >>> from merit_rl.verifiers import MeritConfig, MeritTask, MeritTaskset
    >>> tasks = MeritTaskset(MeritConfig(id="merit_world", world="ledger", tasks=1)).load()
    >>> isinstance(next(tasks), MeritTask)
    True
    """


class MeritConfig(vf.TasksetConfig):
    """Which world, which of its tasks, and what scores them.

    >>> from merit_rl.verifiers import MeritConfig
    >>> MeritConfig(id="merit_world", world="kbqa", settings={"mode": "notes"}, reward="kbqa-notes").split
    'train'
    """

    world: str = "ledger"
    settings: dict[str, Any] = {}
    """Settings of the world, as in a recipe."""
    split: str = "train"
    tasks: int = 64
    reward: str = "final-answer"
    """Scores the episode: the name of a reward or a recipe, a file, or TOML."""
    max_turns: int = 32


class MeritTaskset(vf.Taskset[MeritTask, MeritConfig]):
    """The tasks of a world, with what the world says first as the prompt.

    >>> from merit_rl.verifiers import MeritConfig, MeritTaskset
    >>> taskset = MeritTaskset(MeritConfig(id="merit_world", world="ledger", split="held-out", tasks=2))
    >>> [task.data.id.split("/")[1] for task in taskset.load()]
    ['held-out', 'held-out']
    """

    def __init__(self, config: MeritConfig) -> None:
        super().__init__(config)
        self.world = World(config.world, **config.settings)
        self.reward = Reward(config.reward)

    def open(self, data: MeritData) -> Env:
        """The world of a task, at its start."""
        return self.world.open(data.task, seed=data.seed, max_turns=self.config.max_turns)

    def load(self) -> Iterator[MeritTask]:
        """One after another, as the world makes them."""
        for index in range(self.config.tasks):
            task = self.world.task(self.config.split, index)
            data = MeritData(name=task["id"], id=task["id"], task=task, seed=index)
            yield MeritTask(data.model_copy(update={"prompt": _messages(self.open(data).reset())}), self.config.task)


def _messages(told):
    # What a tool of the world says is told by the world: no call of the model's asked for it by an id.
    kinds = {"system": vf.SystemMessage, "assistant": vf.AssistantMessage}
    return [kinds.get(message["role"], vf.UserMessage)(content=message["content"]) for message in told]


class MeritEnvConfig(vf.EnvConfig):
    """The tasks, and whoever plays them.

    >>> from merit_rl.verifiers import MeritConfig, MeritEnvConfig
    >>> MeritEnvConfig(taskset=MeritConfig(id="merit_world", world="ledger", tasks=4)).taskset.tasks
    4
    """

    taskset: MeritConfig = MeritConfig()
    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """Whoever plays; it only talks, so its runtime runs nothing."""


class MeritEnv(vf.Env[MeritEnvConfig]):
    """One episode: what the model says is a step of the world, until the world or a limit ends it; then the reward scores it.

    >>> import pathlib, sys, tempfile
    >>> import verifiers.v1 as vf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> module = "from merit_rl.verifiers import *; from merit_rl.verifiers import __all__"
    >>> _, found = (folder / "my_world.py").write_text(module), sys.path.append(str(folder))
    >>> config = {"taskset": {"id": "my_world", "world": "ledger", "reward": "ledger-tools", "tasks": 2}}
    >>> env = vf.load_environment(vf.resolve_env_config(config))
    >>> type(env).__name__, len(list(env.taskset))
    ('MeritEnv', 2)
    """

    async def run(self, task: MeritTask, agents: Any) -> None:
        """Plays the task to its end, and records the reward."""
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
    """The settings of ``MeritHarness``: the name of the module by which verifiers finds it.

    >>> from merit_rl.verifiers import MeritHarnessConfig
    >>> MeritHarnessConfig(id="my_world").id
    'my_world'
    """

    id: str = "merit_world"
    """The name of your module."""


class MeritHarness(vf.Harness[MeritHarnessConfig]):
    """Sends the conversation to the model and takes one reply, in this process: no program is installed.

    >>> import verifiers.v1 as vf
    >>> from merit_rl.verifiers import MeritHarness, MeritHarnessConfig
    >>> MeritHarness.EXECUTES_CODE, vf.AgentConfig(harness=MeritHarnessConfig(), runtime=vf.SubprocessConfig()).harness.id
    (False, 'merit_world')
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> vf.ProgramResult:
        """Asks the model once, as verifiers calls it for every reply."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [_plain(one) for one in prompt or []]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        async with httpx.AsyncClient(timeout=None, headers={"Authorization": f"Bearer {secret}"}) as client:
            reply = await client.post(f"{endpoint}/chat/completions", json={"model": ctx.model, "messages": messages})
        return vf.ProgramResult(0 if reply.is_success else 1, "", "" if reply.is_success else reply.text)
