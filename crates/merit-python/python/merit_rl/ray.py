"""Rollouts and scores on Ray: actors come and go, and the numbers are those of one machine.

A unit of work is a group of episodes of one task. Its seeds are named by its place, so it is the same wherever and how often it is
played; only its result is kept, once. An actor that dies takes nothing with it but the time of what it had under way: that is played again by
another. What the policy or the world does wrong is an outcome of the episode and never a retry.
"""

import collections
import threading
import uuid

import ray

from merit_rl._merit import Reward, Rollout
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

    def __init__(self, make, actors, under_way, losses, ahead=0):
        self.make, self.under_way, self.losses, self.ahead = make, under_way, losses, ahead
        self.load, self.nodes, self.joining, self.lost = {}, {}, {}, 0
        for _ in range(actors):
            self._hire()

    def run(self, work, call, batch=1):
        """``call(actor, *items)`` for all of ``work``, up to ``batch`` neighbours in a call; the results of the calls in order.

        An item that ends is followed by one that is there already. The last ones go one by one to whoever is free.
        """
        work = list(work)
        waiting = collections.deque(range(len(work)))
        results, pending = {}, {}
        while waiting or pending:
            while waiting and self.load:
                actor = min(self.load, key=self.load.get)
                plenty = len(waiting) > self.under_way * len(self.load)
                if self.load[actor] >= self.under_way + (max(self.ahead, batch - 1) if plenty else 0):
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
                waiting.extendleft(reversed(part))
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

    def close(self):
        """Ends the actors."""
        self.crew.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Players(_Kept):
    """Actors that play for as long as they are wanted, step after step: ``with Players(make_policy, actors=8) as players: players.play(…)``.

    ``make_policy`` is called once on every actor and gives the policy: a client of a vLLM or SGLang endpoint, for instance. ``under_way``
    is how many calls of the policy an actor has under way at a time, ``resources`` what each asks of Ray (``{"num_cpus": 1}``), ``losses`` how many actors may
    die before it is given up. ``watch`` is handed the crew: the actors with what each has under way in ``load``, their nodes in ``nodes``.
    """

    def __init__(self, make_policy, *, actors=2, under_way=8, losses=100, resources=None, watch=None):
        _at_least_one(actors=actors, under_way=under_way)
        options = {"num_cpus": 1, **(resources or {}), "max_concurrency": under_way}
        actor = ray.remote(**options)(_Rollouts)
        self.crew = _Crew(lambda: actor.remote(make_policy, under_way), actors, under_way, losses, ahead=under_way)
        if watch is not None:
            watch(self.crew)

    def play(self, recipe, *, tasks, batch=None, **plan):
        """``merit_rl.rollout`` on these actors: one ``(score, episode)`` for each episode, in order, both as plain values.

        Up to ``batch`` groups go to an actor in one call, as many as it has under way unless told: more where a policy answers in
        microseconds and calls would cost more than episodes.
        """
        batch = self.crew.under_way if batch is None else batch
        _at_least_one(tasks=tasks, batch=batch)
        name, shipped = uuid.uuid4().hex, ray.put({"recipe": recipe, "tasks": tasks, **plan})

        def call(actor, *groups):
            return actor.play.remote(name, shipped, (groups[0], groups[-1] + 1))

        return [one for part in self.crew.run(range(tasks), call, batch) for one in part]


class Scorers(_Kept):
    """Actors that score for as long as they are wanted: ``with Scorers("maths", actors=8) as scorers: scorers.score(rows)``.

    ``reward`` is a ``Reward`` or what makes one. ``batch`` rows go to an actor in one call, and two calls wait at each.
    """

    def __init__(self, reward, *, actors=2, batch=256, losses=100, resources=None):
        _at_least_one(actors=actors, batch=batch)
        made = reward if isinstance(reward, Reward) else Reward(reward)
        actor = ray.remote(**{"num_cpus": 1, **(resources or {})})(_Scorer)
        self.batch, self.crew = batch, _Crew(lambda: actor.remote(made), actors, 2, losses)

    def score(self, rows, **settings):
        """``Reward.score`` on these actors: a dict for each row, in order. Rows that are compared must be in one batch."""
        parts = [rows[at : at + self.batch] for at in range(0, len(rows), self.batch)]
        scored = self.crew.run(parts, lambda actor, part: actor.score.remote(part, settings))
        return [one for part in scored for one in part]


def _at_least_one(**given):
    for name, number in given.items():
        if number < 1:
            raise InputError(f"`{name}` is {number}; at least 1")


def play(recipe, make_policy, *, tasks, actors=2, under_way=8, losses=100, resources=None, watch=None, **plan):
    """``Players`` for one call: made, asked once, ended."""
    with Players(make_policy, actors=actors, under_way=under_way, losses=losses, resources=resources, watch=watch) as players:
        return players.play(recipe, tasks=tasks, **plan)


def score(reward, rows, *, actors=2, batch=256, losses=100, resources=None, **settings):
    """``Scorers`` for one call: made, asked once, ended."""
    with Scorers(reward, actors=actors, batch=batch, losses=losses, resources=resources) as scorers:
        return scorers.score(rows, **settings)
