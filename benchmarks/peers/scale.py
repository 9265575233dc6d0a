"""How work grows with actors, and what an episode costs beside plain Ray: one JSON line for each thing that is measured, sides in turn.

    python benchmarks/peers/scale.py ACTORS... [--only waiting,playing,scoring] [--rounds N] [--quick]

It runs in an environment that has the package (the release wheel) and Ray. A side is threads of one process, actors of `merit_rl.ray` as they are
by default, or plain Ray: actors of ours that make the same calls in a plain `ActorPool`. Actors are there before the clock starts; each computes
on one thread. What waits may have more actors than the machine has cores; playing and scoring compute, and should not. `waiting` is for a
model that takes 100 ms, and then for a tool that does: a function of Python's that sleeps, in worker processes that every side starts anew
each round, as a step of a training does. The last lines are
what `merit_rl.ray` costs beside plain Ray: the difference of the medians, in microseconds for each episode or row.
"""

import argparse
import itertools
import json
import os
import statistics
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("actors", nargs="+", type=int)
parser.add_argument("--only", default="waiting,playing,scoring")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--quick", action="store_true")
parser.add_argument("--threads", action="store_true")
ASKED = parser.parse_args()
os.environ |= {"RAYON_NUM_THREADS": os.environ.get("RAYON_NUM_THREADS", "1"), "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}

import merit_rl

ROWS = 512 if ASKED.quick else 32_768
EPISODES = 64 if ASKED.quick else 8_192
WAITING = 32 if ASKED.quick else 512
UNDER_WAY = 8
RECIPE = "sums-tools"
TOOK = {}


def say(what, side, actors, count, took):
    TOOK.setdefault((what, actors, count), {}).setdefault(side, []).append(took)
    print(json.dumps({"what": what, "side": side, "actors": actors, "count": count, "seconds": took}), flush=True)


def rows():
    """Answers of a few words to sums of a line, as a verifier of maths meets them."""
    golds = [f"\\frac{{{at % 97 + 1}}}{{7}}" if at % 3 == 0 else str(at * 7 % 1000) for at in range(ROWS)]
    said = [f"Adding both sides, we get \\boxed{{{gold}}}." if at % 2 else f"The answer is {at}" for at, gold in enumerate(golds)]
    return [{"prompt": "?", "response": text, "answer": gold} for text, gold in zip(said, golds)]


def timed(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def answers(messages):
    return "answer 1"


def waits(messages):
    time.sleep(0.1)
    return "answer 1"


SLEEPS = """
import time

def fetch(number: int) -> str:
    "Fetches a number."
    time.sleep(0.1)
    return str(number)
"""


def with_a_slow_tool():
    """A recipe whose episodes call a tool once that takes 100 ms. Sides share a machine, and so the files."""
    folder = pathlib.Path(tempfile.gettempdir(), f"merit-scale-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    tasks = [{"prompt": f"Fetch {at}.", "answer": str(at), "split": "held-out" if at else "train"} for at in range(WAITING + 1)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    (folder / "slow.py").write_text(SLEEPS)
    return f"""
name = "slow"
about = "a tool that takes 100 ms"
[world]
type = "tasks"
file = "{folder}/tasks.jsonl"
calls = "hermes"
[[world.tools]]
type = "python-tool"
module = "{folder}/slow.py:fetch"
python = "{sys.executable}"
[reward]
type = "exact-answer"
[credit]
type = "grpo"
[budget]
steps = 1
groups = 4
group_size = 2
"""


def fetches(messages):
    said = [message["content"] for message in messages]
    number = next(text for text in said if "Fetch " in text).split("Fetch ")[1].split(".")[0]
    if any(message["role"] == "assistant" for message in messages):
        return number
    return f'<tool_call>{{"name": "fetch", "arguments": {{"number": {number}}}}}</tool_call>'


def threads(actors):
    """In this process, which `RAYON_NUM_THREADS` gave so many threads."""
    reward, given = merit_rl.Reward("maths"), rows()
    reward.score(given[:256])
    for _ in range(ASKED.rounds):
        if "scoring" in ASKED.only:
            say("scoring", "threads", actors, ROWS, timed(lambda: reward.score(given)))
        if "waiting" in ASKED.only:
            plan = {"tasks": WAITING, "seed": 1, "concurrency": UNDER_WAY * actors}
            say("waiting", "threads", actors, WAITING, timed(lambda: merit_rl.rollout(RECIPE, waits, **plan)))
            slow = with_a_slow_tool()
            say("waiting for a tool", "threads", actors, WAITING, timed(lambda: solved(merit_rl.rollout(slow, fetches, **plan))))


def solved(played):
    """A side that does not do the work is not measured."""
    outcomes = {(score if isinstance(score, dict) else score.to_dict())["outcome"] for score, _ in played}
    assert outcomes == {"solved"}, outcomes


class Plain:
    """What somebody writes on plain Ray around the same calls."""

    def __init__(self):
        self.reward, self.planned, self.planning = merit_rl.Reward("maths"), {}, threading.Lock()

    def score(self, part):
        return [score.to_dict() for score in self.reward.score(part)]

    def play(self, recipe, policy, tasks, groups, concurrency, turn=0):
        with self.planning:
            if (recipe, tasks, turn) not in self.planned:
                self.planned = {(recipe, tasks, turn): merit_rl.Rollout(recipe, tasks=tasks, seed=1)}
            planned = self.planned[recipe, tasks, turn]
        played = planned.play(policy, groups=groups, concurrency=concurrency)
        return [(score.to_dict(), episode) for score, episode in played]


def plays(what, actors, policy, tasks, size, recipe=RECIPE):
    """Tasks of a policy, `size` in a call of plain Ray; `None`: as many as an actor of `merit_rl.ray` gets by default."""
    import ray

    from merit_rl import ray as merit_ray

    alone = size or UNDER_WAY
    # Whoever waits has calls of one task under way side by side, and whoever computes one after the other.
    side_by_side = 1 if policy is answers else UNDER_WAY
    parts = range(0, tasks, alone if policy is answers else 1)
    actor = ray.remote(num_cpus=1, max_concurrency=side_by_side)(Plain)
    plain = [actor.remote() for _ in range(actors)]

    # A tool's workers are started anew each round, as `play` of merit_rl.ray does.
    turns = itertools.count(1) if policy is fetches else itertools.repeat(0)

    def calls(turn):
        return lambda one, at: one.play.remote(recipe, policy, tasks, (at, min(at + parts.step, tasks)), 1, turn)

    with merit_ray.Players(lambda: policy, actors=actors, under_way=UNDER_WAY) as players:
        # The tool is a program of ours, which may be asked again: without that an actor would get a task at a time.
        more = {"replay_lost": True} if size is None else {"batch": size}
        ray.get([calls(0)(one, 0) for one in plain])
        players.play(recipe, tasks=UNDER_WAY * actors, seed=2, **more)
        for _ in range(ASKED.rounds):
            pool, call = ray.util.ActorPool(plain * (2 if policy is answers else side_by_side)), calls(next(turns))
            say(what, "plain Ray", actors, tasks, timed(lambda: list(pool.map(call, parts))))
            say(what, "merit_rl.ray", actors, tasks, timed(lambda: players.play(recipe, tasks=tasks, seed=1, **more)))
    for one in plain:
        ray.kill(one)


def scores(actors):
    import ray

    from merit_rl import ray as merit_ray

    given, actor = rows(), ray.remote(num_cpus=1)(Plain)
    plain = [actor.remote() for _ in range(actors)]
    parts = [given[at : at + 256] for at in range(0, ROWS, 256)]
    with merit_ray.Scorers("maths", actors=actors) as scorers:
        ray.get([one.score.remote(given[:8]) for one in plain])
        scorers.score(given[: 256 * actors])
        for _ in range(ASKED.rounds):
            pool = ray.util.ActorPool(plain * 2)
            took = timed(lambda: list(pool.map(lambda one, part: one.score.remote(part), parts)))
            say("scoring", "plain Ray", actors, ROWS, took)
            say("scoring", "merit_rl.ray", actors, ROWS, timed(lambda: scorers.score(given)))
    for one in plain:
        ray.kill(one)


if __name__ == "__main__":
    if ASKED.threads:
        threads(ASKED.actors[0])
        sys.exit()
    for actors in ASKED.actors:
        more = ["--only", ASKED.only, "--rounds", str(ASKED.rounds), *(["--quick"] if ASKED.quick else [])]
        one = [sys.executable, __file__, str(actors), "--threads", *more]
        subprocess.run(one, env=os.environ | {"RAYON_NUM_THREADS": str(actors)}, check=True)
    import ray

    # Both sides at once where sides take turns.
    ray.init(num_cpus=2 * max(ASKED.actors), include_dashboard=False, log_to_driver=False, logging_level="error")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    for actors in ASKED.actors:
        if "scoring" in ASKED.only:
            scores(actors)
        if "playing" in ASKED.only:
            plays("playing", actors, answers, EPISODES, None)
            plays("playing, 64 in a call", actors, answers, EPISODES, 64)
        if "waiting" in ASKED.only:
            plays("waiting", actors, waits, WAITING, None)
            plays("waiting for a tool", actors, fetches, WAITING, None, with_a_slow_tool())
    for (what, actors, count), sides in TOOK.items():
        plain, ours = (statistics.median(sides[side]) for side in ("plain Ray", "merit_rl.ray"))
        beside = {"us_beside_plain_ray": (ours - plain) / count * 1e6, "ratio": ours / plain}
        print(json.dumps({"what": what, "actors": actors, "count": count, **beside}), flush=True)
