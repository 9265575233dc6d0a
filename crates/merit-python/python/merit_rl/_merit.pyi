from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn, Protocol, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

__version__: str

Message = dict[str, str]
Outcome = Literal["solved", "policy wrong", "policy timed out", "unscorable", "grader failed", "infrastructure failed", "scored", "left"]
CallEnd = Literal["ok", "refused", "timed out", "broken"]

class AsArray(Protocol):
    """An array of numpy, a tensor on the CPU, and whatever else `numpy.asarray` reads."""

    def __array__(self) -> NDArray[Any]: ...

# float32, row by row; or a list of rows of any lengths.
Numbers = AsArray | Sequence[AsArray | Sequence[float]]
# Truth values, or whole numbers that are 0 and 1.
Mask = AsArray | Sequence[AsArray | Sequence[bool] | Sequence[int]]
# An array where the mask is one, and a list of rows where it is a list.
LikeMask = Any

class Step(TypedDict):
    messages: list[Message]
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, float]
    action: dict[str, Any]
    calls: list[dict[str, Any]]

class Judgement:
    def __init__(
        self,
        passed: bool | None,
        score: float | None,
        conclusion: str,
        why: str | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None: ...
    @property
    def passed(self) -> bool | None: ...
    @property
    def score(self) -> float | None: ...
    @property
    def conclusion(self) -> str: ...
    @property
    def why(self) -> str | None: ...
    @property
    def detail(self) -> dict[str, Any]: ...

class Verifier:
    def __init__(self, kind: str, **settings: Any) -> None: ...
    def judge(self, records: Sequence[Mapping[str, Any]]) -> list[Judgement]: ...
    def pairs(self, references: Sequence[str], responses: Sequence[str]) -> list[float | None]: ...

class Score:
    def __init__(self, told: Mapping[str, Any]) -> None: ...
    @property
    def reward(self) -> float | None: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def solved(self) -> bool | None: ...
    @property
    def terms(self) -> dict[str, float | None]: ...
    @property
    def turn_rewards(self) -> list[float]: ...
    def to_dict(self) -> dict[str, Any]: ...

class Reward:
    def __init__(
        self,
        source: str | PathLike[str] | Mapping[str, Any],
        functions: Mapping[str, Callable[[dict[str, Any]], float | None | dict[str, Any]]] | None = None,
    ) -> None: ...
    def score(
        self,
        rows: Sequence[Mapping[str, Any] | Env],
        *,
        step: int = 0,
        seed: int = 0,
        discount: float = 1.0,
        keep: bool = False,
    ) -> list[Score]: ...
    def explain(self, row: Mapping[str, Any] | Env, *, step: int = 0) -> str: ...
    @property
    def terms(self) -> list[str]: ...
    def check(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...

class Rollout:
    def __init__(
        self,
        recipe: str,
        *,
        tasks: int = 8,
        group_size: int = 1,
        split: Literal["train", "held-out"] = "held-out",
        seed: int = 0,
        set: Mapping[str, Any] | None = None,
    ) -> None: ...
    def play(
        self, policy: Callable[[list[Message]], str], *, groups: tuple[int, int] | None = None, concurrency: int = 1
    ) -> list[tuple[Score, dict[str, Any]]]: ...
    def lost(self, why: str, *, groups: tuple[int, int]) -> list[tuple[Score, dict[str, Any]]]: ...

def reaches_outside(recipe: str, set: Mapping[str, Any] | None = None) -> list[str]: ...

class Env:
    def reset(self) -> list[Message]: ...
    def step(self, text: str) -> Step: ...
    def snapshot(self) -> Any: ...
    def tools(self) -> list[dict[str, Any]]: ...
    @property
    def stops(self) -> list[str]: ...
    @property
    def task(self) -> dict[str, Any]: ...
    @property
    def done(self) -> bool: ...
    def episode(self) -> dict[str, Any]: ...

class World:
    def __init__(self, name: str, **settings: Any) -> None: ...
    @staticmethod
    def of_recipe(recipe: str, set: Mapping[str, Any] | None = None) -> World: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def manners(self) -> list[str]: ...
    def task(self, split: Literal["train", "held-out"] = "train", index: int = 0, seed: int = 0) -> dict[str, Any]: ...
    def open(
        self,
        task: Mapping[str, Any],
        *,
        seed: int = 0,
        state: Any = None,
        max_turns: int | None = None,
        tool_seconds: float = 30.0,
    ) -> Env: ...
    def demonstrate(self, task: Mapping[str, Any], *, manner: str | None = None, seed: int = 0) -> list[str]: ...

class Session:
    def call(self, input: str, seconds: float = 30.0) -> tuple[CallEnd, str]: ...

class Tool:
    def __init__(self, name: str, *, tool: str | None = None, **settings: Any) -> None: ...
    @property
    def spec(self) -> dict[str, Any]: ...
    def call(self, input: str, *, seconds: float = 30.0, payload: Any = None) -> tuple[CallEnd, str]: ...
    def open(self, payload: Any = None) -> Session: ...

class Player:
    def __init__(self, setup: str, *, threads: int = 1) -> None: ...
    def set_policy(self, weights: bytes) -> None: ...
    def play(self, settings: str, groups: Sequence[str]) -> list[str]: ...

@overload
def gae(
    rewards: Numbers,
    values: Numbers,
    mask: AsArray,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    last_values: Sequence[float] | AsArray | None = None,
    whiten: bool = False,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
@overload
def gae(
    rewards: Numbers,
    values: Numbers,
    mask: Mask,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    last_values: Sequence[float] | AsArray | None = None,
    whiten: bool = False,
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]: ...
def group_advantages(
    rewards: Sequence[float | None] | AsArray,
    groups: Sequence[int] | AsArray,
    *,
    formula: Literal["grpo", "mean", "rloo"] = "grpo",
) -> NDArray[np.float64]: ...
def credit_needs(rule: str | Mapping[str, Any]) -> dict[str, Any]: ...
@overload
def advantages(
    rule: str | Mapping[str, Any],
    rewards: Sequence[float | None] | AsArray,
    mask: AsArray,
    *,
    groups: Sequence[int] | AsArray | None = None,
    turn_rewards: Sequence[Sequence[float]] | None = None,
    values: Numbers | None = None,
    truncated: Sequence[bool] | AsArray | None = None,
    last_values: Sequence[float] | AsArray | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]: ...
@overload
def advantages(
    rule: str | Mapping[str, Any],
    rewards: Sequence[float | None] | AsArray,
    mask: Mask,
    *,
    groups: Sequence[int] | AsArray | None = None,
    turn_rewards: Sequence[Sequence[float]] | None = None,
    values: Numbers | None = None,
    truncated: Sequence[bool] | AsArray | None = None,
    last_values: Sequence[float] | AsArray | None = None,
    seed: int = 0,
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]] | None]: ...

class Coefficients:
    def __init__(
        self,
        parts: Mapping[str, float],
        tokens: int,
        clipped: float,
        logprobs: LikeMask,
        entropy: LikeMask | None = None,
        values: LikeMask | None = None,
    ) -> None: ...
    @property
    def tokens(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def parts(self) -> dict[str, float]: ...
    @property
    def clipped(self) -> float: ...
    @property
    def logprobs(self) -> LikeMask: ...
    @property
    def entropy(self) -> LikeMask | None: ...
    @property
    def values(self) -> LikeMask | None: ...

def coefficients(
    objective: str | Mapping[str, Any],
    logprobs: Numbers,
    mask: Mask,
    *,
    old_logprobs: Numbers | None = None,
    advantages: Numbers | None = None,
    reference: Numbers | None = None,
    entropy: Numbers | None = None,
    old_entropy: Numbers | None = None,
    values: Numbers | None = None,
    old_values: Numbers | None = None,
    returns: Numbers | None = None,
    rewards: Sequence[float | None] | AsArray | None = None,
    groups: Sequence[int] | AsArray | None = None,
    guests: Sequence[bool] | AsArray | None = None,
    mismatched: Sequence[float] | AsArray | None = None,
    loss_agg: str | Mapping[str, Any] | None = None,
) -> Coefficients: ...
def rollout(
    recipe: str,
    policy: Callable[[list[Message]], str],
    *,
    tasks: int = 8,
    group_size: int = 1,
    split: Literal["train", "held-out"] = "held-out",
    seed: int = 0,
    concurrency: int = 1,
    groups: tuple[int, int] | None = None,
    set: Mapping[str, Any] | None = None,
) -> list[tuple[Score, dict[str, Any]]]: ...
def episodes(
    path: str | PathLike[str], *, phase: str | None = None, step: int | None = None, task_id: str | None = None
) -> list[dict[str, Any]]: ...
def parse_episodes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]: ...
def write_episodes(
    path: str | PathLike[str], episodes: Sequence[Mapping[str, Any] | tuple[Score, Mapping[str, Any]] | Env]
) -> None: ...
def attack(
    target: str | PathLike[str] | Reward | Callable[[dict[str, Any]], float | None | dict[str, Any]],
    *,
    tasks: str | PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    count: int = 20,
    seed: int = 1,
) -> dict[str, Any]: ...
def recipe(source: str, set: Mapping[str, Any] | None = None) -> str: ...
def names(
    kind: Literal["worlds", "tools", "terms", "combinators", "rules", "objectives", "aggregations", "recipes"],
) -> list[str]: ...
def _command(arguments: Sequence[str]) -> NoReturn: ...
