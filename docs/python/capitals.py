"""Tasks that a class lists by itself, in Gymnasium's words: `reset` is given one in `options`."""

CAPITALS = {
    "Austria": "Vienna", "Chile": "Santiago", "Egypt": "Cairo", "Finland": "Helsinki", "Ghana": "Accra", "Japan": "Tokyo",
    "Kenya": "Nairobi", "Norway": "Oslo", "Peru": "Lima", "Qatar": "Doha", "Spain": "Madrid", "Sweden": "Stockholm",
}  # fmt: skip


class Capitals:
    def tasks(self):
        return [{"country": country, "answer": capital} for country, capital in CAPITALS.items()]

    def reset(self, *, seed=None, options=None):
        self.task = options["task"]
        return f"The capital of {self.task['country']}?", {}

    def step(self, action):
        right = action == self.task["answer"]
        return "right" if right else "wrong", float(right), True, False, {}
