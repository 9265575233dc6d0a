"""The questions, as `benchmarks/peers/trl_smollm2.py` draws them: train.parquet, permuted.parquet and held-out.parquet.

    python data.py FOLDER SEED
"""

import os
import random
import sys

import pandas

folder, seed = sys.argv[1], int(sys.argv[2])


def rows(split, count, seed):
    drawn, made = random.Random(f"addsmall{split}{seed}"), []
    while len(made) < count:
        a, b = drawn.randrange(2, 13), drawn.randrange(2, 13)
        held_out = (min(a, b) * 1009 + max(a, b) * 9176) % 4 == 0
        if held_out == (split == "held-out"):
            made.append((f"What is {a} + {b}?", str(a + b)))
    return made


def write(name, made):
    pandas.DataFrame([
        {
            "data_source": "sums", "prompt": [{"role": "user", "content": question}],
            "reward_model": {"style": "rule", "ground_truth": answer}, "extra_info": {"question": question, "index": at},
        }
        for at, (question, answer) in enumerate(made)
    ]).to_parquet(os.path.join(folder, f"{name}.parquet"))


os.makedirs(folder, exist_ok=True)
train = rows("train", 4096, seed)
answers = [answer for _, answer in train]
random.Random(seed).shuffle(answers)
write("merit", train)
write("permuted", [(question, answer) for (question, _), answer in zip(train, answers)])
write("held-out", rows("held-out", 512, 0))
