"""Worlds as environments of Gymnasium: texts in, texts out.

An action is what the policy says. An observation is what it is shown: all messages of a ``reset``, and after each ``step`` what
came of it, one line each. Importing this module makes every world an id: ``gymnasium.make("merit/kbqa", mode="notes")``.

With a ``reward`` a step earns 0 until the episode ends, and then what the reward says of all of it; ``turn_rewards`` of the last info
says which turn earned it, where the reward pays by turn. An episode that cannot be scored raises: it has no reward, and 0 would be one.
Without one a step earns what the world itself pays. Most pay nothing, which is no 0 either: such a step raises, unless ``unpaid`` says
what it counts as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy
from gymnasium import spaces
from gymnasium.envs.registration import register, registry

from merit_rl._merit import Env, Reward, World, names
from merit_rl.errors import InputError, MeritError

_LONGEST = 1 << 20
# What is drawn at random need not be as long as what may be said.
_LONGEST_DRAWN = 64


class AnyText(spaces.Text):
    """Every text up to a length, in any script. What ``sample`` draws is short, of letters and digits.

    >>> from merit_rl.gym import AnyText
    >>> "été…" in AnyText(8), "123456789" in AnyText(8)
    (True, False)
    """

    def __init__(self, max_length: int = _LONGEST, seed: int | numpy.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: tuple[int | None, Any] | None = None, **more: Any) -> str:
        if mask is None and not more:
            mask = (None, None)
        drawn = int(self.np_random.integers(min(self.max_length, _LONGEST_DRAWN) + 1))
        if mask is not None and mask[0] is None:
            mask = (drawn, mask[1])
        return super().sample(mask, **more)

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, AnyText) and self.max_length == other.max_length


def _shown(messages: Sequence[Mapping[str, str]]) -> str:
    return "\n".join(message["content"] for message in messages)


class TextEnv(gymnasium.Env[str, str]):
    """A world of merit, one task an episode. ``reset(options={"index": 3})`` chooses the task, else the seed does.

    ``split`` is ``"train"`` or ``"held-out"``; ``reward`` a ``Reward`` or what one is made of; ``unpaid`` what a step counts as for which
    neither a reward nor the world pays anything, ``0.0`` for instance; ``settings`` are the world's.

    >>> from merit_rl.gym import TextEnv
    >>> env = TextEnv("ledger", split="held-out", reward="ledger-tools")
    >>> shown, told = env.reset(options={"index": 3})
    >>> shown, reward, terminated, truncated, told = env.step("answer 0")
    >>> terminated, told["outcome"], told["terms"]["exact-answer"]
    (True, 'policy wrong', 0.0)
    """

    # Gymnasium asks for a rate; a text has none.
    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        world: str | World,
        *,
        split: str = "train",
        reward: Any = None,
        unpaid: float | None = None,
        max_turns: int | None = 32,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.world = world if isinstance(world, World) else World(world, **settings)
        self.split, self.max_turns, self.render_mode = split, max_turns, render_mode
        self.reward = reward if reward is None or isinstance(reward, Reward) else Reward(reward)
        if unpaid is not None and reward is not None:
            raise InputError("with a `reward` every step is paid; leave `unpaid` out")
        self.unpaid = unpaid
        self.action_space, self.observation_space = AnyText(), AnyText()
        self.env: Env | None = None
        self.messages: list[dict[str, str]] = []

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        index = (options or {}).get("index")
        if index is None:
            index = int(self.np_random.integers(1 << 31))
        task = self.world.task(self.split, index)
        self.env = self.world.open(task, seed=index, max_turns=self.max_turns)
        self.messages = self.env.reset()
        return _shown(self.messages), {"task": task["id"], "messages": list(self.messages)}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.env is None:
            raise InputError("call `reset` before the first step")
        step = self.env.step(action)
        self.messages += [{"role": "assistant", "content": action}, *step["messages"]]
        over = step["terminated"] or step["truncated"]
        told = {"messages": step["messages"], "calls": step["calls"], **step["info"]}
        reward = self._paid(step) if self.reward is None else self._scored(told) if over else 0.0
        return _shown(step["messages"]), reward, step["terminated"], step["truncated"], told

    def _paid(self, step: Mapping[str, Any]) -> float:
        paid = step["reward"] if step["reward"] is not None else self.unpaid
        if paid is None:
            raise InputError(
                f"the world `{self.world.name}` pays nothing for this step, and nothing is not 0; "
                "name a `reward`, or say with `unpaid=0.0` what such a step counts as"
            )
        return float(paid)

    def _scored(self, told: dict[str, Any]) -> float:
        score = self.reward.score([self.env])[0]
        told.update(outcome=score.outcome, solved=score.solved, terms=score.terms, turn_rewards=score.turn_rewards)
        if score.reward is None:
            why = score.to_dict()["score"]
            raise MeritError(f"the episode has no reward ({score.outcome}): {why}")
        return score.reward

    def render(self) -> str:
        return "\n".join(f"{message['role']:>9}  {message['content']}" for message in self.messages)


class TextVectorEnv(gymnasium.vector.VectorEnv):
    """Several of them, stepped together; each begins its next task in the step after its end, as Gymnasium's ``NEXT_STEP`` says.

    >>> from merit_rl.gym import TextVectorEnv
    >>> envs = TextVectorEnv("sums", 2, reward="sums-tools")
    >>> shown, told = envs.reset(seed=1)
    >>> shown, rewards, terminated, truncated, told = envs.step(["answer 0", "answer 0"])
    >>> terminated.tolist()
    [True, True]
    """

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, world: str | World, num_envs: int, **settings: Any) -> None:
        self.num_envs = num_envs
        self.envs = [TextEnv(world, **settings) for _ in range(num_envs)]
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = spaces.Tuple([self.single_action_space] * num_envs)
        self.observation_space = spaces.Tuple([self.single_observation_space] * num_envs)
        self._over = [False] * num_envs

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        seeds = [None if seed is None else seed + at for at in range(self.num_envs)]
        shown, told = zip(*(env.reset(seed=one, options=options) for env, one in zip(self.envs, seeds)))
        self._over = [False] * self.num_envs
        return shown, _together(told)

    def step(
        self, actions: Sequence[str]
    ) -> tuple[tuple[str, ...], numpy.ndarray, numpy.ndarray, numpy.ndarray, dict[str, Any]]:
        came = []
        for at, (env, action) in enumerate(zip(self.envs, actions)):
            if self._over[at]:
                shown, told = env.reset()
                came.append((shown, 0.0, False, False, told))
            else:
                came.append(env.step(action))
        shown, rewards, ended, cut, told = zip(*came)
        self._over = [one or other for one, other in zip(ended, cut)]
        return shown, numpy.array(rewards), numpy.array(ended), numpy.array(cut), _together(told)


def _together(told: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    together: dict[str, list[Any]] = {}
    for at, one in enumerate(told):
        for key, value in one.items():
            together.setdefault(key, [None] * len(told))[at] = value
    return together


def vector(world: str | World, num_envs: int = 1, **settings: Any) -> TextVectorEnv:
    """Several environments of a world, stepped together.

    >>> from merit_rl import gym
    >>> gym.vector("sums", 3, unpaid=0.0).num_envs
    3
    """
    return TextVectorEnv(world, num_envs, **settings)


for _world in names("worlds"):
    if f"merit/{_world}" not in registry:
        register(
            id=f"merit/{_world}",
            entry_point="merit_rl.gym:TextEnv",
            vector_entry_point="merit_rl.gym:vector",
            kwargs={"world": _world},
            order_enforce=False,
        )
