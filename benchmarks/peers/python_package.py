"""The Python package beside its peers: one JSON line for each thing that is measured, sides in turn.

    python benchmarks/peers/python_package.py ROUNDS [--quick] [--rust target/release/examples]

It runs in an environment that has the package (the release wheel), numpy, Math-Verify, torch with verl's function, and Ray; what is
missing is left out by name. One thread each, but for Ray.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ |= {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "RAY_USAGE_STATS_ENABLED": "0"}

import numpy as np

import merit_rl


def say(what, side, value, unit):
    print(json.dumps({"what": what, "side": side, "value": value, "unit": unit}), flush=True)


def seconds(work, least=0.2):
    """Seconds of one call, over as many as fill `least`."""
    work()
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < least:
        work()
        count += 1
    return (time.perf_counter() - begun) / count


def undisturbed(work, least=0.5):
    """The seconds that a tenth of the calls stay below: what else the machine does is in the others."""
    took, begun = [], time.perf_counter()
    while time.perf_counter() - begun < least:
        before = time.perf_counter()
        work()
        took.append(time.perf_counter() - before)
    return sorted(took)[len(took) // 10]


# Where the next pairs begin that no side has seen.
FRESH = itertools.count(256, 256)


def pairs(count, first=0):
    numbers = range(first, first + count)
    golds = [str(at * 7 % 100_000) if at % 3 else f"\\frac{{{at % 997 + 1}}}{{7}}" for at in numbers]
    said = [f"So we get \\boxed{{{gold}}}." if at % 2 else f"The answer is {at}" for at, gold in zip(numbers, golds)]
    return golds, said


def imports():
    timed = "import time; t = time.perf_counter(); import merit_rl; print(time.perf_counter() - t)"
    say("import", "merit", float(subprocess.check_output([sys.executable, "-c", timed])) * 1000, "ms")


def verifier(rust):
    golds, said = pairs(256)
    maths = merit_rl.Verifier("maths")
    what, here, there = "maths, batches of 256", [], []
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps({"gold": gold, "response": text}) + "\n" for gold, text in zip(golds, said))
        file.flush()
        # In turn, and the best of each, as with the rows below.
        for _ in range(9):
            here.append(256 / seconds(lambda: maths.pairs(golds, said)))
            if rust is not None:
                there.append(float(subprocess.check_output([f"{rust}/pairs", file.name])))
    say(what, "merit", max(here), "pairs/s")
    if there:
        # Two measures one after the other are of one pace of the machine, as the best of each need not be.
        say(what, "merit beside Rust, pair by pair", statistics.median(ours / theirs for ours, theirs in zip(here, there)), "ratio")
    if rust is None:
        print("left out: the same in Rust, whose programs are in the folder that `--rust` names", file=sys.stderr)
    else:
        say(what, "merit, in Rust", max(there), "pairs/s")
    try:
        from math_verify import parse, verify
    except ImportError:
        print("left out: Math-Verify is not here", file=sys.stderr)
        return

    def theirs(golds, said):
        for gold, text in zip(golds, said):
            verify(parse(f"${gold}$"), parse(text))

    # In turn with one another, other pairs each time, as sides remember what they saw; and the best of each, as below.
    ours, others = [], []
    for _ in range(9):
        given = pairs(256, next(FRESH))
        for times, judged in ((ours, maths.pairs), (others, theirs)):
            begun = time.perf_counter()
            judged(*given)
            times.append(time.perf_counter() - begun)
    say("maths, batches of 256, in turn", "merit", 256 / min(ours), "pairs/s")
    say("maths, batches of 256, in turn", "Math-Verify", 256 / min(others), "pairs/s")


def scoring(rust):
    """What a call adds to the same work in Rust: rows are dicts of texts here and three texts there."""
    reward = merit_rl.Reward("final-answer")
    told = "A train leaves at noon and drives at 80 km/h for a while, then at 60 km/h; how far has it come after so many hours? " * 3
    steps = "First we write down what is known, then we work out each part of the way and add them up. " * 6
    rows = [
        {"prompt": f"{told} Case {at}.", "response": f"{steps} The answer is {at + 1}.", "answer": str(at + 1)} for at in range(64)
    ]
    assert len(merit_rl.parse_episodes(rows)) == 64
    what, here, there = "a batch of 64 rows, scored", [], []
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        # In turn, and the best of each: the machine has slower seconds, which are not the call's.
        for _ in range(9):
            here.append(undisturbed(lambda: reward.score(rows)))
            if rust is not None:
                there.append(float(subprocess.check_output([f"{rust}/scoring", "final-answer", file.name])))
    say(what, "merit", min(here) * 1e6, "µs")
    if rust is None:
        print("left out: the same in Rust, whose programs are in the folder that `--rust` names", file=sys.stderr)
    else:
        say(what, "merit, in Rust", min(there), "µs")


def gae():
    random = np.random.default_rng(1)
    shape = (64, 1024)
    mask = random.random(shape) < 0.8
    rewards, values = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
    took = seconds(lambda: merit_rl.gae(rewards, values, mask, gamma=0.99, lam=0.95, whiten=True))
    say("GAE of 64 by 1,024 tokens", "merit", took * 1e3, "ms")
    try:
        import torch
    except ImportError:
        print("left out: torch is not here", file=sys.stderr)
        return
    torch.set_num_threads(1)
    tensors = [torch.from_numpy(array) for array in (rewards, values, mask)]
    what, there, copied = "GAE over tensors of torch, 64 by 1,024 tokens", [], []
    # In turn, and the best of each, as above.
    for _ in range(9):
        there.append(undisturbed(lambda: merit_rl.gae(*tensors, gamma=0.99, lam=0.95), 0.1))
        copied.append(undisturbed(lambda: merit_rl.gae(*(np.asarray(tensor).copy() for tensor in tensors), gamma=0.99, lam=0.95), 0.1))
    say(what, "merit, read where they lie", min(there) * 1e6, "µs")
    say(what, "merit, copied first", min(copied) * 1e6, "µs")
    try:
        from verl.trainer.ppo.core_algos import compute_gae_advantage_return as theirs
    except ImportError:
        print("left out: verl's function is not here", file=sys.stderr)
        return
    given = [torch.from_numpy(array) for array in (rewards, values, mask.astype(np.float32))]
    say("GAE of 64 by 1,024 tokens", "verl", seconds(lambda: theirs(*given, 0.99, 0.95)) * 1e3, "ms")


def waiting(messages):
    time.sleep(0.1)
    return "answer 1"


def on_ray(tasks, rounds):
    try:
        import ray

        from merit_rl import ray as on_ray
    except ImportError:
        print("left out: Ray is not here", file=sys.stderr)
        return
    plan, what = {"tasks": tasks, "seed": 1}, f"{tasks} episodes of a policy that takes 100 ms, 32 at a time"
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="error")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with on_ray.Players(lambda: waiting, actors=4, under_way=8) as players:
        # Actors are there before the clock starts: a run keeps them for all of its steps.
        players.play("sums-tools", tasks=128, seed=2)
        for _ in range(rounds):
            begun = time.perf_counter()
            here = merit_rl.rollout("sums-tools", waiting, concurrency=32, **plan)
            say(what, "merit, threads", time.perf_counter() - begun, "s")
            begun = time.perf_counter()
            there = players.play("sums-tools", **plan)
            say(what, "merit, 4 actors of Ray", time.perf_counter() - begun, "s")
            assert [score.reward for score, _ in here] == [score["reward"] for score, _ in there]
    ray.shutdown()


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    rust = sys.argv[sys.argv.index("--rust") + 1] if "--rust" in sys.argv else None
    for _ in range(1 if quick else int(sys.argv[1])):
        imports()
        verifier(rust)
        scoring(rust)
        gae()
    on_ray(32 if quick else 512, 1 if quick else int(sys.argv[1]))
