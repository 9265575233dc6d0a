"""Tools of merit: a function, and a class of which each episode has an object."""
from typing import Literal


def convert(amount: float, unit: Literal["km", "miles"]) -> str:
    """Converts a distance between kilometres and miles.

    Args:
        amount: how far, in `unit`
        unit: what `amount` is measured in
    """
    if amount < 0:
        raise ValueError("a distance is not negative")
    return f"{amount / 1.609344:.3f} miles" if unit == "km" else f"{amount * 1.609344:.3f} km"


class Notebook:
    """Writes a line down and shows all lines of this episode."""

    def __init__(self, most=100):
        self.lines, self.most = [], most

    def __call__(self, line: str):
        if not line.strip():
            raise ValueError("write something")
        if len(line) > self.most:
            raise ValueError(f"a line has at most {self.most} characters")
        self.lines.append(line)
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.lines, 1))
