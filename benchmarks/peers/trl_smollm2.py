"""SmolLM2-135M-Instruct learns small sums in TRL by merit's reward: one JSON line for each seed and arm, before and after.

    python benchmarks/peers/trl_smollm2.py MODEL [--seeds 1 2 3] [--arms merit permuted] [--steps 60] [--out FILE]

MODEL is a folder that transformers reads, or a GGUF file. It needs TRL and the package, and reaches no network. All runs are processes side by
side, on the GPU where there is one. The arm `permuted` is the control: its answers are shuffled among the questions. A quarter of the pairs of
numbers is held out.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "TRL_EXPERIMENTAL_SILENCE": "1"}
parser = argparse.ArgumentParser()
parser.add_argument("model", type=pathlib.Path)
parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
parser.add_argument("--arms", nargs="+", default=["merit", "permuted"], choices=["merit", "permuted"])
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--batch", type=int, default=256, help="answers in a step, 8 to a question")
parser.add_argument("--held-out", type=int, default=512)
parser.add_argument("--out", type=pathlib.Path)
parser.add_argument("--alone", action="store_true", help="the one run, in this process")


def rows(split, count, seed):
    drawn, made = random.Random(f"addsmall{split}{seed}"), []
    while len(made) < count:
        a, b = drawn.randrange(2, 13), drawn.randrange(2, 13)
        held_out = (min(a, b) * 1009 + max(a, b) * 9176) % 4 == 0
        if held_out == (split == "held-out"):
            made.append({"prompt": [{"role": "user", "content": f"What is {a} + {b}?"}], "answer": str(a + b)})
    return made


def said(model, tokenizer, rows, **how):
    import torch

    texts = [tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True) for row in rows]
    given = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(model.device)
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16):
        tokens = model.eval().generate(**given, max_new_tokens=48, **how)
    return tokenizer.batch_decode(tokens[:, given.input_ids.shape[1] :], skip_special_tokens=True)


def measure(model, tokenizer, held_out, reward):
    found = {}
    for name, how in (("greedy", {"do_sample": False}), ("sampled", {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0})):
        answers = said(model, tokenizer, held_out, **how)
        given = [{"prompt": row["prompt"][0]["content"], "response": text, "answer": row["answer"]} for row, text in zip(held_out, answers)]
        found[name] = sum(score.reward == 1.0 for score in reward.score(given)) / len(given)
    return found


def run(asked, seed, arm):
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    import merit_rl
    import merit_rl.trl

    torch.manual_seed(seed)
    here = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(asked.model)
    tokenizer.padding_side = "left"
    model = AutoModelForCausalLM.from_pretrained(asked.model, dtype=torch.float32).to(here)
    train, held_out = rows("train", 4096, seed), rows("held-out", asked.held_out, 0)
    if arm == "permuted":
        answers = [row["answer"] for row in train]
        random.Random(seed).shuffle(answers)
        train = [{**row, "answer": answer} for row, answer in zip(train, answers)]
    maths = {"type": "maths"}
    before, begun = measure(model, tokenizer, held_out, merit_rl.Reward(maths)), time.time()
    settings = GRPOConfig(
        output_dir=tempfile.mkdtemp(), num_generations=8, per_device_train_batch_size=asked.batch, max_steps=asked.steps, learning_rate=1e-5,
        lr_scheduler_type="cosine", warmup_steps=5, max_completion_length=48, temperature=1.0, beta=0.0, bf16=here == "cuda", use_cpu=here == "cpu",
        logging_steps=1, save_strategy="no", report_to=[], seed=seed, disable_tqdm=True, gradient_checkpointing=False,
    )  # fmt: skip
    func = merit_rl.trl.RewardFunc(maths)
    trainer = GRPOTrainer(model=model, processing_class=tokenizer, reward_funcs=func, train_dataset=Dataset.from_list(train), args=settings)
    trainer.train()
    took = time.time() - begun
    curve = [line["reward"] for line in trainer.state.log_history if "reward" in line]
    after = measure(model, tokenizer, held_out, merit_rl.Reward(maths))
    return {"arm": arm, "seed": seed, "steps": asked.steps, "before": before, "after": after, "seconds": round(took, 1), "curve": curve}


def converted(file):
    """The folder of what is in a GGUF file, so that it is unpacked once and not in every run."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, where = tempfile.mkdtemp(), {"gguf_file": file.name}
    AutoTokenizer.from_pretrained(file.parent, **where).save_pretrained(folder)
    AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **where).save_pretrained(folder)
    return folder


def main():
    asked = parser.parse_args()
    if asked.alone:
        # Trainers print as they like; the last line is the result.
        return print(json.dumps(run(asked, asked.seeds[0], asked.arms[0])), flush=True)
    model = converted(asked.model) if asked.model.suffix == ".gguf" else asked.model
    same = ["--steps", asked.steps, "--batch", asked.batch, "--held-out", asked.held_out, "--alone"]
    begun = []
    for arm in asked.arms:
        for seed in asked.seeds:
            words, told = [sys.executable, __file__, model, "--seeds", seed, "--arms", arm, *same], tempfile.TemporaryFile("w+")
            begun.append((subprocess.Popen([*map(str, words)], stdout=told), told))
    failed = 0
    for one, told in begun:
        if one.wait() != 0:
            failed += 1
            continue
        told.seek(0)
        line = told.read().strip().splitlines()[-1]
        print(line, flush=True)
        if asked.out is not None:
            with asked.out.open("a") as out:
                out.write(line + "\n")
    sys.exit(f"{failed} of {len(begun)} runs failed" if failed else 0)


if __name__ == "__main__":
    main()
