"""Rollouts and scores on Ray: actors come and go, and the numbers are those of one machine.

A unit of work is a group of episodes of one task. Its seeds are named by its place, so it is the same wherever and how often it is
played; only its result is kept, once. An actor that dies takes nothing with it but the time of what it had under way: that is played again by
another. Where the world or its tools reach outside, nobody knows what was done there already: what was under way is an infrastructure failure
then, and is played again only if told. What the policy or the world does wrong is an outcome of the episode and never a retry.
"""

from __future__ import annotations

import collections
import functools
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ray

from merit_rl._given import Policy, RewardSource
from merit_rl._merit import Reward, Rollout, parse_episodes, reaches_outside
from merit_rl.errors import InputError, MeritError

_LOST = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError)


class _Actor:
    def ready(self):
        """Where it runs; the first answer says that it does."""
        return ray.get_runtime_context().get_node_id()


class _Rollouts(_Actor):
    """Plays groups; the policy is made here, once, from what was shipped."""

    def __init__(self, make_policy, under_way):
        self.policy, self.under_way, self.slots = make_policy(), under_way, threading.Semaphore(under_way)
        self.making, self.name, self.planned = threading.Lock(), None, None

    def play(self, name, plan, groups):
        with self.making:
            if name != self.name:
                self.name, self.planned = name, Rollout(**plan)
        played = self.planned.play(self._say, groups=groups, concurrency=self.under_way)
        return [(score.to_dict(), episode) for score, episode in played]

    def _say(self, messages):
        # The groups of one call take over the places that those of the call before it leave.
        with self.slots:
            return self.policy(messages)


class _Scorer(_Actor):
    def __init__(self, reward):
        self.reward = reward

    def score(self, rows, settings):
        return [score.to_dict() for score in self.reward.score(rows, **settings)]


class _Crew:
    """Actors that are replaced when they die. Keeps order; so many items under way at each and so many waiting behind them, no more.

    Work goes to those that have answered: one that the cluster has no room for keeps nobody waiting, and joins when there is room.
    """

    def __init__(self, make, actors, under_way, losses, ahead=0, begun=None):
        self.make, self.under_way, self.losses, self.ahead = make, under_way, losses, ahead
        # So many does an actor begin at a time; the others that are under way wait in it.
        self.begun = begun or under_way
        self.load, self.nodes, self.joining, self.lost = {}, {}, {}, 0
        for _ in range(actors):
            self._hire()

    def run(self, work, call, batch=1, lost=None):
        """``call(actor, *items)`` for all of ``work``, up to ``batch`` neighbours in a call; the results of the calls in order.

        An item that ends is followed by one that is there already. The last ones go one by one to whoever is free.
        With ``lost`` nothing is done twice: what was sent to an actor that died comes to ``lost(item)``, and an actor is sent an item only when
        it can begin it.
        """
        most, ahead = (self.under_way, max(self.ahead, batch - 1)) if lost is None else (self.begun, 0)
        batch = batch if lost is None else 1
        work = list(work)
        waiting = collections.deque(range(len(work)))
        results, pending = {}, {}
        while waiting or pending:
            while waiting and self.load:
                actor = min(self.load, key=self.load.get)
                plenty = len(waiting) > most * len(self.load)
                if self.load[actor] >= most + (ahead if plenty else 0):
                    break
                part = [waiting.popleft()]
                while plenty and len(part) < batch and waiting and waiting[0] == part[-1] + 1:
                    part.append(waiting.popleft())
                pending[call(actor, *(work[at] for at in part))] = (part, actor)
                self.load[actor] += len(part)
            [done], _ = ray.wait([*pending, *self.joining], num_returns=1)
            if done in self.joining:
                self._join(done)
                continue
            part, actor = pending.pop(done)
            try:
                results[part[0]] = ray.get(done)
            except _LOST as error:
                if lost is None:
                    waiting.extendleft(reversed(part))
                else:
                    results[part[0]] = lost(work[part[0]])
                self._replace(actor, error)
            if actor in self.load:
                self.load[actor] -= len(part)
        return [results[first] for first in sorted(results)]

    def _hire(self):
        actor = self.make()
        self.joining[actor.ready.remote()] = actor

    def _join(self, answer):
        actor = self.joining.pop(answer)
        try:
            self.nodes[actor] = ray.get(answer)
        except _LOST as error:
            if getattr(error, "actor_init_failed", False):
                raise MeritError(f"an actor could not be made, and another would fare no better: {error}") from error
            return self._lose(error)
        self.load[actor] = 0

    def _replace(self, actor, error):
        if self.load.pop(actor, None) is not None:
            self._lose(error)

    def _lose(self, error):
        self.lost += 1
        if self.lost > self.losses:
            raise MeritError(f"{self.lost} actors were lost, more than `losses` allows; the last: {error}")
        self._hire()

    def close(self):
        for actor in [*self.load, *self.joining.values()]:
            ray.kill(actor)


class _Kept:
    """Actors that are kept until nobody wants them any more."""

    def close(self) -> None:
        """Ends the actors."""
        self.crew.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Players(_Kept):
    """Actors that play for as long as they are wanted, step after step: ``with Players(make_policy, actors=8) as players: players.play(…)``.

    ``make_policy`` is called once on every actor and gives the policy: a client of a vLLM or SGLang endpoint, for instance. ``under_way``
    is how many calls of the policy an actor has under way at a time, ``resources`` what each asks of Ray (``{"num_cpus": 1}``), ``losses`` how many actors may
    die before it is given up. ``watch`` is handed the crew: the actors with what each has under way in ``load``, their nodes in ``nodes``.

    >>> from merit_rl import ray as on_ray
    >>> def make_policy():
    ...     return lambda messages: "answer 0"
    >>> with on_ray.Players(make_policy, actors=1) as players:
    ...     first = players.play("sums-tools", tasks=2)
    ...     again = players.play("sums-tools", tasks=2)
    >>> [score["outcome"] for score, episode in first], first == again
    (['policy-wrong', 'policy-wrong'], True)
    """

    def __init__(
        self,
        make_policy: Callable[[], Policy],
        *,
        actors: int = 2,
        under_way: int = 8,
        losses: int = 100,
        resources: Mapping[str, Any] | None = None,
        watch: Callable[[Any], object] | None = None,
    ) -> None:
        _at_least_one(actors=actors, under_way=under_way)
        options = {"num_cpus": 1, **(resources or {}), "max_concurrency": under_way}
        actor = ray.remote(**options)(_Rollouts)
        self.crew = _Crew(lambda: actor.remote(make_policy, under_way), actors, under_way, losses, ahead=under_way)
        if watch is not None:
            watch(self.crew)

    def play(
        self, recipe: str, *, tasks: int, batch: int | None = None, replay_lost: bool = False, **plan: Any
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """``merit_rl.rollout`` on these actors: one ``(score, episode)`` for each episode, in order, both as plain values.

        Up to ``batch`` groups go to an actor in one call, as many as it has under way unless told: more where a policy answers in
        microseconds and calls would cost more than episodes. What was lost with an actor is played again. Where the world or its tools reach
        outside (programs of yours, MCP servers) that takes ``replay_lost``; without it those episodes are infrastructure failures, and a
        group is a call of its own.
        """
        batch = self.crew.under_way if batch is None else batch
        _at_least_one(tasks=tasks, batch=batch)
        outside = [] if replay_lost else reaches_outside(recipe, plan.get("set"))
        name, shipped = uuid.uuid4().hex, ray.put({"recipe": recipe, "tasks": tasks, **plan})

        def call(actor, *groups):
            return actor.play.remote(name, shipped, (groups[0], groups[-1] + 1))

        @functools.cache
        def planned():
            return Rollout(recipe, tasks=tasks, **plan)

        def lost(group):
            why = f"the actor that played it was lost, and it reaches outside by {_quoted(outside)}; `replay_lost=True` plays it again"
            return [(score.to_dict(), episode) for score, episode in planned().lost(why, groups=(group, group + 1))]

        parts = self.crew.run(range(tasks), call, batch, lost if outside else None)
        return [one for part in parts for one in part]


def _quoted(names):
    return " and ".join(f"`{name}`" for name in names)


class Scorers(_Kept):
    """Actors that score for as long as they are wanted: ``with Scorers("maths", actors=8) as scorers: scorers.score(rows)``.

    ``reward`` is a ``Reward`` or what makes one. About ``batch`` rows go to an actor in one call, and two calls wait at each. Rows that were
    lost with an actor are scored again: a term that asks a program or a server of yours asks it again.

    >>> from merit_rl import ray as on_ray
    >>> with on_ray.Scorers({"type": "maths"}, actors=1) as scorers:
    ...     [score] = scorers.score([{"prompt": "6*7?", "response": "42", "answer": "42"}])
    >>> score["reward"], score["outcome"]
    (1.0, 'scored')
    """

    def __init__(
        self,
        reward: RewardSource,
        *,
        actors: int = 2,
        batch: int = 256,
        losses: int = 100,
        resources: Mapping[str, Any] | None = None,
    ) -> None:
        _at_least_one(actors=actors, batch=batch)
        made = reward if isinstance(reward, Reward) else Reward(reward)
        actor = ray.remote(**{"num_cpus": 1, **(resources or {})})(_Scorer)
        self.batch, self.crew = batch, _Crew(lambda: actor.remote(made), actors, 2, losses)
        self.looks_at(made.to_dict())

    def looks_at(self, config: Mapping[str, Any]) -> None:
        """What of a row its score depends on, besides what it says."""
        parts = list(_parts(config))
        self.placed = any(part["type"] in _BY_PLACE or part.get("errors") for part in parts)
        self.whole = sorted({part["type"] for part in parts if _compares(part) == "batch"})
        self.grouped = any(_compares(part) == "group" for part in parts)

    def score(self, rows: Iterable[Any], **settings: Any) -> list[dict[str, Any]]:
        """``Reward.score`` on these actors: a dict for each row, in order, the same as on one machine.

        Rows that the reward compares stay together: those of a task, or all of them, which must fit one call then. ``keep`` is for one process.
        """
        if settings.pop("keep", False):
            raise InputError("`keep` is what one process learns from step to step, and actors come and go; score by `Reward.score` instead")
        rows, sent = self._sent(list(rows))
        scored = self.crew.run(sent, lambda actor, part: actor.score.remote([rows[at] for at in part], settings))
        told = dict(zip((at for part in sent for at in part), (one for part in scored for one in part)))
        return [told[at] for at in range(len(rows))]

    def _sent(self, rows):
        """The rows as they are sent, and which of them go together."""
        if self.placed or self.whole or self.grouped or not all(map(_alone, rows)):
            # As one machine reads them: what is known of a task is what all of its rows say, and each has its place.
            rows = parse_episodes(rows)
        if self.whole and len(rows) > self.batch:
            raise InputError(
                f"{_quoted(self.whole)} holds a row against all others, and {len(rows)} rows do not fit one call of {self.batch};"
                f" make the scorers with `batch={len(rows)}`, or score by `Reward.score` in one process"
            )
        if not self.grouped:
            return rows, [range(at, min(at + self.batch, len(rows))) for at in range(0, len(rows), self.batch)]
        groups = collections.defaultdict(list)
        for at, row in enumerate(rows):
            groups[row["id"]["phase"], row["id"]["step"], row["id"]["group"]].append(at)
        sent = [[]]
        for group in groups.values():
            if sent[-1] and len(sent[-1]) + len(group) > self.batch:
                sent.append([])
            sent[-1] += group
        return rows, [part for part in sent if part]


# Parts of a reward that are told the place of a row, or draw by it; a judge may be made of any of them.
_BY_PLACE = {"command", "function", "judge", "python", "shuffled"}


def _compares(part):
    """Whom a part of a reward holds a row against: those of its ``group``, the whole ``batch``, or nobody."""
    if part["type"] in ("distinct", "normalised-sum"):
        return part.get("scope", "group")
    return {"gain": "group", "majority": "group", "pareto-rank": "group", "shuffled": "batch", "team": "batch"}.get(part["type"])


def _parts(config):
    """The terms and combinators of a reward, as tables."""
    if isinstance(config, dict):
        if isinstance(config.get("type"), str):
            yield config
        config = config.values()
    elif not isinstance(config, (list, tuple)):
        return
    for inner in config:
        yield from _parts(inner)


def _alone(row):
    """Whether it is a prompt, a response and perhaps an answer, which say everything of it."""
    texts = type(row) is dict and all(type(value) is str for value in row.values())
    return texts and {"prompt", "response"} <= row.keys() <= {"prompt", "response", "answer"}


def _at_least_one(**given):
    for name, number in given.items():
        if number < 1:
            raise InputError(f"`{name}` is {number}; at least 1")


def play(
    recipe: str,
    make_policy: Callable[[], Policy],
    *,
    tasks: int,
    actors: int = 2,
    under_way: int = 8,
    losses: int = 100,
    resources: Mapping[str, Any] | None = None,
    watch: Callable[[Any], object] | None = None,
    **plan: Any,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """``Players`` for one call: made, asked once, ended.

    >>> from merit_rl import ray as on_ray
    >>> def make_policy():
    ...     return lambda messages: "answer 0"
    >>> [(score, episode)] = on_ray.play("sums-tools", make_policy, tasks=1, actors=1)
    >>> score["outcome"], len(episode["turns"])
    ('policy-wrong', 1)
    """
    with Players(make_policy, actors=actors, under_way=under_way, losses=losses, resources=resources, watch=watch) as players:
        return players.play(recipe, tasks=tasks, **plan)


def score(
    reward: RewardSource,
    rows: Iterable[Any],
    *,
    actors: int = 2,
    batch: int = 256,
    losses: int = 100,
    resources: Mapping[str, Any] | None = None,
    **settings: Any,
) -> list[dict[str, Any]]:
    """``Scorers`` for one call: made, asked once, ended.

    >>> from merit_rl import ray as on_ray
    >>> rows = [{"prompt": "6*7?", "response": said, "answer": "42"} for said in ("42", "41")]
    >>> [one["reward"] for one in on_ray.score({"type": "maths"}, rows, actors=1)]
    [1.0, 0.0]
    """
    with Scorers(reward, actors=actors, batch=batch, losses=losses, resources=resources) as scorers:
        return scorers.score(rows, **settings)
