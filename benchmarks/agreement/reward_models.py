"""Rewards of the tiny models of every family under a random head, as a sequence classifier of `transformers` with one label.

    .cache/peers/bin/python benchmarks/agreement/reward_models.py crates/merit-model/tests/golden/families

Beside the files of family_models.py each folder gets `reward_head.safetensors` (the classifier's `score.weight`) and
`rewards.jsonl`, whose lines have `ids` and `reward`.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForSequenceClassification


def main():
    for folder in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir()):
        torch.manual_seed(len(folder.name))
        # No id ends a sequence early: the classifier is asked behind the last token.
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=1, pad_token_id=None, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        with torch.no_grad():
            model.score.weight.normal_(0.0, 0.5)
        save_file({"score.weight": model.score.weight.detach().contiguous()}, folder / "reward_head.safetensors")
        with open(folder / "rewards.jsonl", "w", encoding="utf-8") as out, torch.no_grad():
            for length in (1, 2, 9, 23):
                ids = torch.randint(0, model.config.vocab_size, (length,)).tolist()
                reward = model(torch.tensor([ids])).logits[0, 0].item()
                out.write(json.dumps({"ids": ids, "reward": reward}) + "\n")


if __name__ == "__main__":
    main()
