"""merit from Python: rewards, verifiers, sandboxed tools, worlds, credit, audits.

What could not be judged is ``None`` and never 0: leave such an episode out of the loss, the baseline and the success rate.
Everything here works from many threads (the interpreter is free meanwhile), after ``fork``, and can be pickled, except what is open:
an ``Env`` and a tool's ``Session`` belong to the process that opened them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merit_rl._merit import (
    Coefficients,
    Env,
    Judgement,
    Reward,
    Rollout,
    Score,
    Session,
    Tool,
    Verifier,
    World,
    __version__,
    advantages,
    attack,
    coefficients,
    credit_needs,
    episodes,
    gae,
    group_advantages,
    names,
    parse_episodes,
    recipe,
    rollout,
    write_episodes,
)
from merit_rl.command import compare, reproduce, run, train
from merit_rl.errors import InputError, MeritError
from merit_rl.frames import frame, table

if TYPE_CHECKING:
    import gymnasium

__all__ = [
    "Coefficients",
    "Env",
    "InputError",
    "Judgement",
    "MeritError",
    "Reward",
    "Rollout",
    "Score",
    "Session",
    "Tool",
    "Verifier",
    "World",
    "__version__",
    "advantages",
    "attack",
    "coefficients",
    "compare",
    "credit_needs",
    "episodes",
    "frame",
    "gae",
    "group_advantages",
    "make",
    "names",
    "parse_episodes",
    "recipe",
    "reproduce",
    "rollout",
    "run",
    "table",
    "train",
    "write_episodes",
]


def make(world: str | World, /, **settings: Any) -> gymnasium.Env[str, str]:
    """A world as a ``gymnasium.Env`` of texts. See ``merit_rl.gym`` for what it takes.

    >>> import merit_rl
    >>> env = merit_rl.make("sums", reward="sums-tools", max_turns=2)
    >>> shown, told = env.reset(seed=1)
    >>> shown, reward, terminated, truncated, told = env.step("answer 7")
    >>> told["outcome"] in ("solved", "policy wrong")
    True
    """
    from merit_rl import gym

    return gym.TextEnv(world, **settings)
