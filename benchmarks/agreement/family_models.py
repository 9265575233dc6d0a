"""Tiny random models of every family, made and run by `transformers`: the golden files of merit-model's tests.

    .cache/peers/bin/python benchmarks/agreement/family_models.py crates/merit-model/tests/golden/families

For each family a folder with `config.json`, `model.safetensors` and `expected.jsonl`, whose lines are those of
reference_logits.py. Sizes are odd on purpose; gains, biases and norms are random too, so that each of them shows.
"""

import json
import pathlib
import sys

import torch
from transformers import Gemma3TextConfig, LlamaConfig, Qwen2Config, Qwen3Config
from transformers import Gemma3ForCausalLM, LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM

SMALL = dict(
    vocab_size=269,
    hidden_size=12,
    intermediate_size=20,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
)
ROPE3 = dict(
    rope_type="llama3",
    rope_theta=10000.0,
    factor=4.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=16,
)
GEMMA_ROPE = {
    "full_attention": dict(rope_type="linear", rope_theta=10000.0, factor=2.0),
    "sliding_attention": dict(rope_type="default", rope_theta=100.0),
}
MODELS = {
    "smollm2": (LlamaForCausalLM, LlamaConfig(**SMALL | dict(num_attention_heads=3, num_key_value_heads=1), tie_word_embeddings=True, rms_norm_eps=1e-5)),
    "llama3": (LlamaForCausalLM, LlamaConfig(**SMALL, head_dim=6, tie_word_embeddings=False, rope_parameters=ROPE3)),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SMALL | dict(num_attention_heads=3, num_key_value_heads=1), tie_word_embeddings=True)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**SMALL, head_dim=8, tie_word_embeddings=False)),
    "gemma3": (
        Gemma3ForCausalLM,
        Gemma3TextConfig(
            **SMALL | dict(num_hidden_layers=3),
            head_dim=10,
            query_pre_attn_scalar=7,
            sliding_window=5,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters=GEMMA_ROPE,
            tie_word_embeddings=True,
        ),
    ),
}


def main():
    root = pathlib.Path(sys.argv[1])
    for name, (kind, config) in MODELS.items():
        torch.manual_seed(len(name))
        config.dtype = "float32"
        config._attn_implementation = "eager"
        model = kind(config).float().eval()
        with torch.no_grad():
            for weight in model.parameters():
                weight.normal_(0.0, 0.3 if weight.dim() == 1 else 0.35)
                if weight.dim() == 1 and kind is not Gemma3ForCausalLM:
                    weight += 1.0
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        with open(folder / "expected.jsonl", "w", encoding="utf-8") as out:
            for length in (1, 2, 9, 23):
                ids = torch.randint(0, config.vocab_size, (length,)).tolist()
                out.write(json.dumps(summary(model, ids)) + "\n")


def summary(model, ids, top=8):
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double()
    logprobs = torch.log_softmax(logits, dim=-1)
    best = torch.topk(logits[-1], top)
    return {
        "ids": ids,
        "logprobs": [round(logprobs[t - 1, ids[t]].item(), 6) for t in range(1, len(ids))],
        "logsumexp": round(torch.logsumexp(logits[-1], dim=-1).item(), 6),
        "top": [[int(i), round(x, 6)] for i, x in zip(best.indices.tolist(), best.values.tolist())],
    }


if __name__ == "__main__":
    main()
