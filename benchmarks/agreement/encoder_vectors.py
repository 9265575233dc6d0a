"""Writes what `transformers` makes of twenty texts with all-MiniLM-L6-v2: tokens and unit vectors, one JSON object a line.

    python encoder_vectors.py .cache/weights/all-minilm-l6-v2 crates/merit-encoder/tests/golden/minilm.jsonl
"""

import json
import sys

import torch
from transformers import AutoModel, AutoTokenizer

TEXTS = [
    "Paris is the capital of France.",
    "What is the capital of France?",
    "The cat sat on the mat.",
    "A feline rested on a rug.",
    "Stock markets fell sharply on Tuesday.",
    "short",
    "UPPER case and MiXeD Case",
    "naïve café, résumé — “quotes”",
    "今天天气很好",
    "emoji 😀 and ½ signs",
    'fn main() { println!("hello"); }',
    "3.14159 and 1,000,000",
    "  spaces   around  ",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "Agents act over many turns with tools, users and environments.",
    "The reward is a vector of named terms with evidence.",
    "Привет, мир",
    "a b c d e f g h i j k l m n o p",
    "long " + " ".join(f"word{i} the quick brown fox" for i in range(80)),
    "Tokens are append-only; nothing is ever re-tokenised from text.",
]


def main(folder, out):
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    with open(out, "w", encoding="utf-8") as file, torch.no_grad():
        for text in TEXTS:
            ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=256)["input_ids"]
            hidden = model(input_ids=ids, token_type_ids=torch.zeros_like(ids))[0][0]
            vector = torch.nn.functional.normalize(hidden.mean(0), dim=0)
            row = {"text": text, "tokens": ids[0].tolist(), "vector": [float(f"{x:.7g}") for x in vector.tolist()]}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
