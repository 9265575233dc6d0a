"""How work grows with cores: one JSON line for each thing that is measured, sides in turn.

    python benchmarks/peers/scale.py CORES... [--quick]

It runs in an environment that has the package (the release wheel) and Ray. A side is threads of one process, actors of `merit_rl.ray`, or plain
Ray: actors of ours that make the same calls in a plain `ActorPool`. Actors are there before the clock starts; each computes on one thread.
"""

import json
import os
import subprocess
import sys
import time

QUICK = "--quick" in sys.argv
CORES = [int(word) for word in sys.argv[1:] if word.isdigit()]
os.environ |= {"RAYON_NUM_THREADS": os.environ.get("RAYON_NUM_THREADS", "1"), "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}

import merit_rl

ROWS = 512 if QUICK else 32_768
EPISODES = 64 if QUICK else 8_192
WAITING = 32 if QUICK else 512
RECIPE = "sums-tools"


def say(what, side, cores, count, took):
    print(json.dumps({"what": what, "side": side, "cores": cores, "count": count, "seconds": took}), flush=True)


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


def threads(cores):
    """In this process, which `RAYON_NUM_THREADS` gave so many threads."""
    reward, given = merit_rl.Reward("maths"), rows()
    reward.score(given[:256])
    say("scoring", "threads", cores, ROWS, timed(lambda: reward.score(given)))
    say("waiting", "threads", cores, WAITING, timed(lambda: merit_rl.rollout(RECIPE, waits, tasks=WAITING, seed=1, concurrency=8 * cores)))


class Plain:
    """What somebody writes on plain Ray around the same calls."""

    def __init__(self):
        self.reward = merit_rl.Reward("maths")

    def score(self, part):
        return [score.to_dict() for score in self.reward.score(part)]

    def play(self, policy, part):
        plan, first, last = part
        return [(score.to_dict(), episode) for score, episode in merit_rl.Rollout(RECIPE, **plan).play(policy, groups=(first, last))]


def on_ray(cores):
    import ray

    from merit_rl import ray as merit_ray

    given = rows()
    actor = ray.remote(num_cpus=1)(Plain)
    plain = [actor.remote() for _ in range(cores)]
    ray.get([one.score.remote(given[:8]) for one in plain])
    parts = [given[at : at + 256] for at in range(0, ROWS, 256)]
    pool = ray.util.ActorPool(plain)
    say("scoring", "plain Ray", cores, ROWS, timed(lambda: list(pool.map(lambda one, part: one.score.remote(part), parts))))
    plan = {"tasks": EPISODES, "seed": 1}
    groups = [(plan, at, at + 64) for at in range(0, EPISODES, 64)]
    pool = ray.util.ActorPool(plain)
    took = timed(lambda: list(pool.map(lambda one, part: one.play.remote(answers, part), groups)))
    say("playing", "plain Ray", cores, EPISODES, took)
    for one in plain:
        ray.kill(one)
    with merit_ray.Scorers("maths", actors=cores) as scorers:
        scorers.score(given[: 256 * cores])
        say("scoring", "merit_rl.ray", cores, ROWS, timed(lambda: scorers.score(given)))
    for what, policy, under_way, tasks, batch in (("playing", answers, 2, EPISODES, 64), ("waiting", waits, 8, WAITING, 1)):
        with merit_ray.Players(lambda policy=policy: policy, actors=cores, under_way=under_way) as players:
            players.play(RECIPE, tasks=8 * cores, seed=2)
            say(what, "merit_rl.ray", cores, tasks, timed(lambda: players.play(RECIPE, tasks=tasks, seed=1, batch=batch)))


if __name__ == "__main__":
    if "--threads" in sys.argv:
        threads(CORES[0])
        sys.exit()
    for cores in CORES:
        more = ["--quick"] if QUICK else []
        subprocess.run([sys.executable, __file__, str(cores), "--threads", *more], env=os.environ | {"RAYON_NUM_THREADS": str(cores)}, check=True)
    import ray

    ray.init(num_cpus=max(CORES), include_dashboard=False, log_to_driver=False, logging_level="error")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    for cores in CORES:
        on_ray(cores)
