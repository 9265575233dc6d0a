from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

Message = dict[str, str]
Outcome = Literal["solved", "policy wrong", "policy timed out", "unscorable", "grader failed", "infrastructure failed", "scored", "left"]
CallEnd = Literal["ok", "refused", "timed out", "broken"]

class Step(TypedDict):
    messages: list[Message]
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, float]
    action: dict[str, Any]
    calls: list[dict[str, Any]]

class Judgement:
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
        source: str | Mapping[str, Any],
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

def gae(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    mask: NDArray[np.bool_],
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    last_values: NDArray[np.float64] | None = None,
    whiten: bool = False,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
def group_advantages(
    rewards: Sequence[float | None], groups: Sequence[int], *, formula: Literal["grpo", "mean", "rloo"] = "grpo"
) -> NDArray[np.float64]: ...
def advantages(
    rule: str | Mapping[str, Any],
    rewards: Sequence[float | None],
    mask: NDArray[np.bool_],
    *,
    groups: Sequence[int] | None = None,
    turn_rewards: Sequence[Sequence[float]] | None = None,
    values: NDArray[np.float32] | None = None,
    truncated: Sequence[bool] | None = None,
    last_values: Sequence[float] | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]: ...
class Coefficients:
    @property
    def loss(self) -> float: ...
    @property
    def parts(self) -> dict[str, float]: ...
    @property
    def clipped(self) -> float: ...
    @property
    def logprobs(self) -> NDArray[np.float32]: ...
    @property
    def entropy(self) -> NDArray[np.float32] | None: ...
    @property
    def values(self) -> NDArray[np.float32] | None: ...

def coefficients(
    objective: str | Mapping[str, Any],
    logprobs: NDArray[np.float32],
    mask: NDArray[np.bool_],
    *,
    old_logprobs: NDArray[np.float32] | None = None,
    advantages: NDArray[np.float32] | None = None,
    reference: NDArray[np.float32] | None = None,
    entropy: NDArray[np.float32] | None = None,
    old_entropy: NDArray[np.float32] | None = None,
    values: NDArray[np.float32] | None = None,
    old_values: NDArray[np.float32] | None = None,
    returns: NDArray[np.float32] | None = None,
    rewards: Sequence[float | None] | None = None,
    groups: Sequence[int] | None = None,
    guests: Sequence[bool] | None = None,
    mismatched: Sequence[float] | None = None,
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
