"""Loads datasets that `merit export` wrote in somebody else's trainers, and trains a tiny model on each for two steps.

    python trainers.py sft|dpo|grpo|verl FILE [sft|dpo|grpo|verl FILE …]

Model and tokenizer are made on the spot; nothing is fetched, and everything runs on the CPU. The last lines of the output, one for
each file, are JSON objects: `rows`, `columns`, and what the trainer made of them.
"""

import json
import math
import os
import sys
import tempfile

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}

import datasets
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = """{%- if tools %}<|im_start|>tools
{{ tools | tojson }}<|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' %}{% generation %}{{ message.content }}{% for call in message.tool_calls or [] %}
<call>{{ call.function.name }} {{ call.function.arguments }}</call>{% endfor %}<|im_end|>{% endgeneration %}{% else %}{{ message.content }}<|im_end|>{% endif %}

{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
SPECIAL = ["<|pad|>", "<|im_start|>", "<|im_end|>"]


def load(file):
    kind = "parquet" if file.endswith(".parquet") else "json"
    return datasets.load_dataset(kind, data_files=file, split="train", cache_dir=tempfile.mkdtemp())


def tokenizer_of(rows):
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    bpe.train_from_iterator([json.dumps(row, default=str) for row in rows], trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token=SPECIAL[0], eos_token=SPECIAL[2])
    made.chat_template = TEMPLATE
    return made


def model_of(tokenizer):
    torch.manual_seed(1)
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=4096, **shape, **ids))


def settings(**more):
    usual = {"output_dir": tempfile.mkdtemp(), "max_steps": 2, "per_device_train_batch_size": 2, "logging_steps": 1}
    quiet = {"report_to": [], "save_strategy": "no", "use_cpu": True, "bf16": False, "disable_tqdm": True}
    return usual | quiet | {"gradient_checkpointing": False} | more


def trained(trainer):
    steps = trainer.train().global_step
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert steps == 2 and all(math.isfinite(loss) for loss in losses), (steps, losses)
    return {"steps": steps, "losses": losses}


def sft(rows):
    from trl import SFTConfig, SFTTrainer

    tokenizer = tokenizer_of(rows)
    config = SFTConfig(**settings(assistant_only_loss=True, max_length=4096))
    trainer = SFTTrainer(model=model_of(tokenizer), args=config, train_dataset=rows, processing_class=tokenizer)
    batch = next(iter(trainer.get_train_dataloader()))
    first = batch["labels"][0]
    learned = tokenizer.decode(first[first != -100])
    return trained(trainer) | {"learned": learned}


def dpo(rows):
    from trl import DPOConfig, DPOTrainer

    tokenizer = tokenizer_of(rows)
    config = DPOConfig(**settings(max_length=4096))
    model, reference = model_of(tokenizer), model_of(tokenizer)
    trainer = DPOTrainer(
        model=model, ref_model=reference, args=config, train_dataset=rows, processing_class=tokenizer
    )
    return trained(trainer)


def grpo(rows):
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = tokenizer_of(rows)
    seen = {}

    def reward(prompts, completions, answer, task_id, **columns):
        seen.update(answer=answer[0], task_id=task_id[0], columns=sorted(columns))
        return [float(len(completion[0]["content"])) for completion in completions]

    config = GRPOConfig(**settings(num_generations=2, max_completion_length=8))
    trainer = GRPOTrainer(
        model=model_of(tokenizer), reward_funcs=reward, args=config, train_dataset=rows, processing_class=tokenizer
    )
    return trained(trainer) | {"seen": seen}


def verl(file):
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

    rows = load(file)
    config = OmegaConf.create({"max_prompt_length": 4096, "cache_dir": tempfile.mkdtemp(), "filter_overlong_prompts_workers": 1})
    read = RLHFDataset(data_files=file, tokenizer=tokenizer_of(rows), config=config)
    assert len(read) == len(rows), "a row was left out"
    batch = collate_fn([read[at] for at in range(min(2, len(read)))])
    plain = json.loads(json.dumps(read[0], default=str))
    return {"first": plain, "batch": sorted(batch)}


def main(kind, file):
    rows = load(file)
    said = {"rows": len(rows), "columns": rows.column_names}
    said |= verl(file) if kind == "verl" else {"sft": sft, "dpo": dpo, "grpo": grpo}[kind](rows)
    print(json.dumps(said))


if __name__ == "__main__":
    for kind, file in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        main(kind, file)
