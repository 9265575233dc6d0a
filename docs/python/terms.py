"""Reward terms of merit: a function of the episode, and a class that is made once."""


def brief(episode, words=20):
    """1 for an answer of few words, less for more; nothing to say where there is none."""
    last = episode["turns"][-1]["action"] if episode["turns"] else {}
    if last.get("type") != "answer":
        return None
    return min(1.0, words / max(1, len(last["text"].split())))


class Calm:
    def __init__(self, marks="!"):
        self.marks = marks

    def score(self, episode):
        texts = [turn["action"].get("text", "") for turn in episode["turns"]]
        loud = [sum(text.count(mark) for mark in self.marks) for text in texts]
        return {"value": float(sum(loud) == 0), "evidence": f"{sum(loud)} of {self.marks!r}"}
