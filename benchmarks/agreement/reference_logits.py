"""What `transformers` computes for a folder of weights: the golden side of the comparison of logits.

    .cache/peers/bin/python benchmarks/agreement/reference_logits.py FOLDER OUT.jsonl
        [--prompts benchmarks/agreement/prompts.jsonl] [--top 10] [--byte-ids] [--double]

The folder is one that merit wrote (a GGUF file dequantised, or a tiny model of `cargo run -p merit-formats --example
tiny_models`). Weights and arithmetic are f32 on one thread, without attention kernels that reorder; with `--double` arithmetic is f64, which shows how
far each side is from the exact numbers.

A line of the prompts has `text` or `ids`. Texts go through the folder's own tokenizer; with `--byte-ids` their bytes modulo
the vocabulary are the ids, for models that have no tokenizer. A line of the output:

    {"ids": [...], "logprobs": [...], "logsumexp": x, "top": [[id, logit], ...]}

`logprobs` has the log-probability of each id after the first, `logsumexp` and `top` belong to the last position.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description="logits of transformers for a folder of weights")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--prompts", type=pathlib.Path, default=HERE / "prompts.jsonl")
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--byte-ids", action="store_true")
    parser.add_argument("--double", action="store_true")
    options = parser.parse_args()

    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    model, loading = AutoModelForCausalLM.from_pretrained(
        options.folder, dtype=torch.float64 if options.double else torch.float32, attn_implementation="eager", output_loading_info=True
    )
    refuse_incomplete(loading)
    encode = encoder(options, model.config.vocab_size)
    scratch = options.out.with_name(options.out.name + ".tmp")
    with open(scratch, "w", encoding="utf-8") as out, torch.no_grad():
        for ids in map(encode, lines(options.prompts)):
            logits = model(torch.tensor([ids])).logits[0].double()
            out.write(json.dumps(summary(torch, ids, logits, options.top)) + "\n")
    os.replace(scratch, options.out)


def refuse_incomplete(loading):
    """A tensor that was made up would agree with nothing."""
    wrong = {what: sorted(names) for what, names in loading.items() if names}
    if wrong:
        sys.exit(f"transformers did not load the folder as it is: {wrong}")


def lines(path):
    with open(path, encoding="utf-8") as prompts:
        for number, line in enumerate(prompts, start=1):
            prompt = json.loads(line)
            if len({"text", "ids"} & prompt.keys()) != 1:
                sys.exit(f"{path}:{number}: a prompt has either `text` or `ids`")
            yield prompt


def encoder(options, vocab):
    """A function from a prompt to its ids."""
    if options.byte_ids:
        return lambda prompt: prompt.get("ids") or [byte % vocab for byte in prompt["text"].encode()]
    if not (options.folder / "tokenizer.json").exists():
        return lambda prompt: prompt.get("ids") or sys.exit(
            f"{options.folder} has no tokenizer.json: give prompts with `ids`, or --byte-ids"
        )
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.folder)
    return lambda prompt: prompt.get("ids") or tokenizer(prompt["text"])["input_ids"]


def summary(torch, ids, logits, top):
    logprobs = torch.log_softmax(logits[:-1], dim=-1)
    chosen = logprobs[torch.arange(len(ids) - 1), torch.tensor(ids[1:], dtype=torch.long)]
    best = logits[-1].topk(min(top, logits.shape[-1]))
    return {
        "ids": ids,
        "logprobs": [round(value, 6) for value in chosen.tolist()],
        "logsumexp": round(torch.logsumexp(logits[-1], dim=-1).item(), 6),
        "top": [[index, round(value, 6)] for index, value in zip(best.indices.tolist(), best.values.tolist())],
    }


if __name__ == "__main__":
    main()
