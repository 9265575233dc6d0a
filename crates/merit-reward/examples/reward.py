"""A reward function in Python: half for the right answer, half for giving it in few turns.

Use it in a reward:  { type = "command", command = ["python3", "reward.py"], low = 0.0, high = 1.0 }
"""
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    episode = request["episode"]
    turns, right = episode["turns"], episode["task"]["answer"]
    last = turns[-1]["action"] if turns else {}
    if right is None:
        reply = {"not_applicable": "the task has no right answer"}
    elif last.get("type") == "malformed":
        reply = {"parse_failure": last["why"]}
    else:
        correct = last.get("type") == "answer" and last["text"].strip() == right
        value = 0.5 + 0.5 / len(turns) if correct else 0.0
        reply = {"value": value, "evidence": f"{len(turns)} turns, correct: {correct}"}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
