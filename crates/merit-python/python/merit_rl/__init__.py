"""merit from Python: rewards, verifiers, sandboxed tools, worlds, credit, audits.

What could not be judged is ``None`` and never 0: leave such an episode out of the loss, the baseline and the success rate.
Everything here works from many threads (the interpreter is free meanwhile), after ``fork``, and can be pickled, except what is open:
an ``Env`` and a tool's ``Session`` belong to the process that opened them.
"""

from merit_rl._merit import (
    Coefficients,
    Env,
    Judgement,
    Reward,
    Rollout,
    Score,
    Session,
    Tool,
    Verifier,
    World,
    __version__,
    advantages,
    attack,
    coefficients,
    episodes,
    gae,
    group_advantages,
    names,
    parse_episodes,
    recipe,
    rollout,
)
from merit_rl.command import compare, reproduce, run, train
from merit_rl.errors import InputError, MeritError

__all__ = [
    "Coefficients",
    "Env",
    "InputError",
    "Judgement",
    "MeritError",
    "Reward",
    "Rollout",
    "Score",
    "Session",
    "Tool",
    "Verifier",
    "World",
    "__version__",
    "advantages",
    "attack",
    "coefficients",
    "compare",
    "episodes",
    "frame",
    "gae",
    "group_advantages",
    "make",
    "names",
    "parse_episodes",
    "recipe",
    "reproduce",
    "rollout",
    "run",
    "train",
]


def make(world, /, **settings):
    """A world as a ``gymnasium.Env`` of texts: ``make("kbqa", mode="notes", reward="kbqa-notes")``. See ``merit_rl.gym``."""
    from merit_rl import gym

    return gym.TextEnv(world, **settings)


def frame(path, **which):
    """The episodes of a run as a table of pandas: a row each, with reward, outcome, turns and every term."""
    import pandas

    rows = []
    for told in episodes(path, **which):
        episode, score = told["episode"], told["score"] or {"terms": []}
        row = {
            "id": told["id"],
            "phase": told["id"].split("/")[0],
            "step": episode["id"]["step"],
            "task": episode["task"]["id"],
            "size": episode["task"]["size"],
            "outcome": told["outcome"],
            "reward": told["reward"],
            "solved": score.get("solved"),
            "turns": len(episode["turns"]),
            "end": episode["end"]["type"],
            **episode["cost"],
        }
        row.update({f"term/{term['name']}": term["outcome"].get("value") for term in score["terms"]})
        rows.append(row)
    return pandas.DataFrame(rows)
