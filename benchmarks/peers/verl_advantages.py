"""Time of verl's advantage functions on one batch, torch on one thread.

The inputs come from a generator that any language can repeat bit for bit:

    state = 20250101                                        (unsigned 64 bit, wrapping)
    next():  state = state * 6364136223846793005 + 1442695040888963407;  return state >> 40
    unit():  next() / 2^24                                  (24 bits: exact in float32)

    for each row of the batch, in order:
        length = T/8 + next() mod (T - T/8 + 1)             (integer division; T/8 to T inclusive)
        reward = unit()
        value[t] = unit() - 0.5    for t = 0 .. T-1         (drawn for the padding too)

The mask is 1 where t < length. With --mask turns it is also 0 where (t / 64) mod 4 == 3, as on
observation tokens between turns. The reward stands on the last token whose mask is 1, every other
token has 0. Row i belongs to group i / 8. Mask and rewards are float32.

gamma is 0.999 and lambda 0.95. GRPO divides by the group's standard deviation (n - 1) plus 1e-6. GAE
and REINFORCE++ whiten over the batch: subtract the mean and multiply by rsqrt(variance + 1e-8), both
over mask 1, variance over n - 1.

The fields `check_*` let the other side prove that it did the same work: the float64 sum of |advantage|
over mask 1, and the advantage of token 0 in rows 0 to 3. `error` is the largest difference, over mask 1, from
the same function given the same batch in float64.
"""

import argparse
import json
import statistics
import sys
import time
import types
from importlib.metadata import version
from unittest.mock import MagicMock

import numpy as np
import torch

for name in ("ray", "ray.actor", "ray.util", "ray.experimental", "ray.experimental.state", "ray.experimental.state.api"):
    sys.modules[name] = MagicMock(name=name)  # imported by verl, never called here

from verl.trainer.ppo import core_algos  # noqa: E402

SEED, GROUP, GAMMA, LAMBDA = 20250101, 8, 0.999, 0.95


def draw(count: int) -> np.ndarray:
    """The first `count` values of next()."""
    state, out = SEED, np.empty(count, dtype=np.int64)
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        out[i] = state >> 40
    return out


def batch(rows: int, tokens: int, mask_kind: str):
    raw = draw(rows * (tokens + 2)).reshape(rows, tokens + 2)
    lengths = tokens // 8 + raw[:, 0] % (tokens - tokens // 8 + 1)
    rewards = raw[:, 1] / 2**24
    values = raw[:, 2:] / 2**24 - 0.5
    at = np.arange(tokens)
    mask = at < lengths[:, None]
    if mask_kind == "turns":
        mask &= (at // 64) % 4 != 3
    last = tokens - 1 - mask[:, ::-1].argmax(axis=1)
    scores = np.zeros((rows, tokens))
    scores[np.arange(rows), last] = rewards
    as_torch = lambda a: torch.from_numpy(a.astype(np.float32))
    check = {"check_mask_sum": int(mask.sum()), "check_reward_sum": float(rewards.sum()), "check_value_sum": float(values.sum())}
    return as_torch(scores), as_torch(values), as_torch(mask), np.arange(rows) // GROUP, check


def functions(scores, values, mask, index):
    config = types.SimpleNamespace(gamma=GAMMA)
    return {
        "grpo": lambda: core_algos.compute_grpo_outcome_advantage(scores, mask, index),
        "grpo-vectorized": lambda: core_algos.compute_grpo_vectorized_outcome_advantage(scores, mask, index),
        "rloo": lambda: core_algos.compute_rloo_outcome_advantage(scores, mask, index),
        "rloo-vectorized": lambda: core_algos.compute_rloo_vectorized_outcome_advantage(scores, mask, index),
        "reinforce++": lambda: core_algos.compute_reinforce_plus_plus_outcome_advantage(scores, mask, config=config),
        "gae": lambda: core_algos.compute_gae_advantage_return(scores, values, mask, GAMMA, LAMBDA),
    }


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rounds", type=int, default=1)
    args.add_argument("--size", default="1024x1024", help="rows x tokens, comma separated")
    args.add_argument("--repeats", type=int, default=7, help="calls per round, of which the median is reported")
    args.add_argument("--mask", choices=["prefix", "turns"], default="prefix")
    args.add_argument("--only", help="functions, comma separated")
    args = args.parse_args()

    torch.set_num_threads(1)
    for size in args.size.split(","):
        rows, tokens = map(int, size.split("x"))
        scores, values, mask, index, check_inputs = batch(rows, tokens, args.mask)
        chosen = functions(scores, values, mask, index)
        exact = functions(scores.double(), values.double(), mask.double(), index)
        if args.only:
            chosen = {name: chosen[name] for name in args.only.split(",")}
        for call in chosen.values():
            call()  # warm up
        exact = {name: exact[name]()[0] for name in chosen}
        assert all(advantages.dtype == torch.float64 for advantages in exact.values())
        for round_ in range(args.rounds):
            for name, call in chosen.items():
                walls, cpus = [], []
                for _ in range(args.repeats):
                    wall, cpu = time.perf_counter(), time.process_time()
                    advantages, _ = call()
                    walls.append(time.perf_counter() - wall)
                    cpus.append(time.process_time() - cpu)
                median = statistics.median(walls)
                print(json.dumps({
                    "peer": "verl", "version": version("verl"), "torch": torch.__version__, "threads": 1,
                    "subject": "advantages", "function": name, "round": round_, "size": size, "group": GROUP, "mask": args.mask,
                    "median_ms": median * 1e3, "min_ms": min(walls) * 1e3, "median_cpu_ms": statistics.median(cpus) * 1e3,
                    "rows_per_s": rows / median, "tokens_per_s": rows * tokens / median, "masked_tokens_per_s": check_inputs["check_mask_sum"] / median,
                    "error": float(((advantages.double() - exact[name]).abs() * mask).max()),
                    **check_inputs,
                    "check_abs_sum": float((advantages.double().abs() * mask).sum()),
                    "check_first": [float(a) for a in advantages[:4, 0]],
                }), flush=True)


if __name__ == "__main__":
    main()
