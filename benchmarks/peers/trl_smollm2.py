"""SmolLM2-135M-Instruct learns small sums in TRL by merit's reward: one JSON line, before and after. Needs a GPU, TRL and the package.

    python benchmarks/peers/trl_smollm2.py MODEL_FOLDER SEED ARM [STEPS]

ARM is `merit`, or `permuted`: the control whose answers are shuffled among the questions. A quarter of the pairs of numbers is held out.
"""

import json
import random
import sys
import time

import merit_rl
import merit_rl.trl
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

MODEL, SEED, ARM, STEPS = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 120


def rows(split, count, seed):
    drawn, made = random.Random(f"addsmall{split}{seed}"), []
    while len(made) < count:
        a, b = drawn.randrange(2, 13), drawn.randrange(2, 13)
        held_out = (min(a, b) * 1009 + max(a, b) * 9176) % 4 == 0
        if held_out == (split == "held-out"):
            made.append({"prompt": [{"role": "user", "content": f"What is {a} + {b}?"}], "answer": str(a + b)})
    return made


@torch.no_grad()
def said(model, tokenizer, rows, **how):
    texts = [tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True) for row in rows]
    given = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to("cuda")
    with torch.autocast("cuda", torch.bfloat16):
        tokens = model.eval().generate(**given, max_new_tokens=48, **how)
    return tokenizer.batch_decode(tokens[:, given.input_ids.shape[1] :], skip_special_tokens=True)


def measure(model, tokenizer, held_out, reward):
    found = {}
    for name, how in (("greedy", {"do_sample": False}), ("sampled", {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0})):
        answers = said(model, tokenizer, held_out, **how)
        given = [{"prompt": row["prompt"][0]["content"], "response": text, "answer": row["answer"]} for row, text in zip(held_out, answers)]
        found[name] = sum(score.reward == 1.0 for score in reward.score(given)) / len(given)
    return found


torch.manual_seed(SEED)
tokenizer = AutoTokenizer.from_pretrained(MODEL)
tokenizer.padding_side = "left"
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).cuda()
train, held_out = rows("train", 4096, SEED), rows("held-out", 512, 0)
if ARM == "permuted":
    answers = [row["answer"] for row in train]
    random.Random(SEED).shuffle(answers)
    train = [{**row, "answer": answer} for row, answer in zip(train, answers)]
maths = {"type": "maths"}
before, begun = measure(model, tokenizer, held_out, merit_rl.Reward(maths)), time.time()
settings = GRPOConfig(
    output_dir="out", num_generations=8, per_device_train_batch_size=256, max_steps=STEPS, learning_rate=1e-5, lr_scheduler_type="cosine", warmup_steps=5,
    max_completion_length=48, temperature=1.0, beta=0.0, bf16=True, logging_steps=1, save_strategy="no", report_to=[], seed=SEED, disable_tqdm=True,
)
trainer = GRPOTrainer(model=model, processing_class=tokenizer, reward_funcs=merit_rl.trl.RewardFunc(maths), train_dataset=Dataset.from_list(train), args=settings)
trainer.train()
took = time.time() - begun
curve = [line["reward"] for line in trainer.state.log_history if "reward" in line]
after = measure(model, tokenizer, held_out, merit_rl.Reward(maths))
print(json.dumps({"arm": ARM, "seed": SEED, "steps": STEPS, "before": before, "after": after, "seconds": round(took, 1), "curve": curve}))
