"""A number to guess, as a world of merit: a plain class. Gymnasium's `reset` and `step` would do as well."""
import random


class Guess:
    def __init__(self, high=99):
        self.high = high

    def reset(self, seed):
        self.secret = random.Random(seed).randint(1, self.high)
        return f"Guess a number from 1 to {self.high}."

    def step(self, action):
        guess = int(action)  # A text that is no number raises ValueError: the policy reads it and goes on.
        answer = "low" if guess < self.secret else "high" if guess > self.secret else "yes"
        return answer, float(answer == "yes"), answer == "yes", {"distance": abs(guess - self.secret)}

    def expert(self, turns):
        low, high = 1, self.high
        for turn in turns:
            if turn["observed"] == ["low"]:
                low = max(low, int(turn["said"]) + 1)
            elif turn["observed"] == ["high"]:
                high = min(high, int(turn["said"]) - 1)
        return str((low + high) // 2)
