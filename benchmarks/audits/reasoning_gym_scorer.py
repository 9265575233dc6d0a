"""A dataset of reasoning-gym as a scorer that `merit attack` can audit.

    reasoning_gym_scorer.py NAME [TASKS] [SEED]    speaks the command protocol of `merit attack` for one dataset
    reasoning_gym_scorer.py --list                  the names of all datasets

Needs reasoning-gym 0.1.25. Nothing of merit needs this file; it is how docs/audits.md was made (see run.py).
"""

import json
import os
import sys

# Some datasets print while they work: what they print goes to standard error, so that the protocol stays clean.
PROTOCOL = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

import reasoning_gym as package  # noqa: E402
from reasoning_gym.factory import DATASETS  # noqa: E402


def say(record):
    PROTOCOL.write(json.dumps(record) + "\n")
    PROTOCOL.flush()


def text(value):
    """A right answer that is no text is not one an agent could write."""
    return value if isinstance(value, str) and value.strip() else None


def score(dataset, entry, answer):
    try:
        return {"score": float(dataset.score_answer(answer, entry))}
    except Exception as error:  # Whatever a scorer raises is what is being looked for.
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def serve(name, tasks, seed):
    dataset = package.create_dataset(name, size=tasks, seed=seed)
    entries = [dataset[at] for at in range(tasks)]
    listed = [
        {"id": f"{name}/{at}", "prompt": entry["question"], "answer": text(entry["answer"])}
        for at, entry in enumerate(entries)
    ]
    say({"name": name, "full": 1.0, "tasks": listed})
    for line in sys.stdin:
        asked = json.loads(line)
        say({"id": asked["id"], **score(dataset, entries[asked["task"]], asked["answer"])})


def main(arguments):
    if arguments == ["--list"]:
        PROTOCOL.write("".join(f"{name}\n" for name in sorted(DATASETS)))
        return
    if not 1 <= len(arguments) <= 3:
        sys.exit(__doc__)
    serve(arguments[0], *(int(number) for number in arguments[1:] or [4, 1]))


if __name__ == "__main__":
    main(sys.argv[1:])
