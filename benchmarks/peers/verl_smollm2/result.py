"""One JSON line for every log of a training in OUT, in the shape of docs/results/trl-smollm2.jsonl.

    python result.py OUT
"""

import glob
import json
import os
import sys

for file in sorted(glob.glob(os.path.join(sys.argv[1], "*.jsonl"))):
    lines = [json.loads(line) for line in open(file)]
    held_out = [line["data"]["val-core/sums/acc/mean@1"] for line in lines if "val-core/sums/acc/mean@1" in line["data"]]
    steps = [line["data"] for line in lines if "critic/rewards/mean" in line["data"]]
    arm, seed = os.path.basename(file)[: -len(".jsonl")].rsplit("-", 1)
    spent = {name: round(sum(step.get(f"timing_s/{name}", 0) for step in steps), 1) for name in ("step", "gen", "old_log_prob", "adv", "update_actor", "update_weights")}
    apart = [step["training/rollout_probs_diff_mean"] for step in steps if "training/rollout_probs_diff_mean" in step]
    print(json.dumps({
        "arm": arm, "seed": int(seed), "steps": len(steps), "before": {"greedy": held_out[0]} if held_out else None,
        "after": {"greedy": held_out[-1]} if len(held_out) > 1 else None, "seconds": spent, "rollout probabilities apart": sum(apart) / max(1, len(apart)),
        "curve": [step["critic/rewards/mean"] for step in steps],
    }))
