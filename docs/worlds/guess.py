"""A number to guess, as a world for merit: one JSON object per line in, one per line out, with the same id."""
import json, random, sys

for line in sys.stdin:
    request, reply = json.loads(line), {}
    if request["op"] == "task":
        reply = {"task": {"secret": random.Random(request["seed"]).randint(1, 99)}, "size": 7}
    elif request["op"] == "reset":
        secret, tries = request["task"]["secret"], 0
        reply = {"observations": ["Guess a number from 1 to 99."], "state": {"tries": tries}}
    elif request["op"] == "step":
        tries += 1
        guess = int(request["action"]) if request["action"].isdecimal() and len(request["action"]) < 4 else None
        answer = "a number, please" if guess is None else "low" if guess < secret else "high" if guess > secret else "yes"
        reply = {"observations": [answer], "terminated": answer == "yes", "reward": float(answer == "yes"),
                 "info": {"distance": abs(secret - (guess or 0)), "tries": tries}, "state": {"tries": tries}}
    elif request["op"] == "expert":
        secret = request["task"]["secret"]
        right = random.Random(request["seed"]).random() < request["p_correct"]
        reply = {"say": str(secret) if right or request["turns"] else "50"}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
