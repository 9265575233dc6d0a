"""Episodes as tables: a row each, with reward, outcome, turns, what it cost and every term."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from merit_rl._merit import episodes

if TYPE_CHECKING:
    import pandas
    import pyarrow


def _rows(path, which):
    for told in episodes(path, **which):
        episode, score = told["episode"], told["score"] or {"terms": []}
        yield {
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
            **{f"term/{term['name']}": term["outcome"].get("value") for term in score["terms"]},
        }


def frame(path: str | os.PathLike[str], **which: Any) -> pandas.DataFrame:
    """The episodes of a run, or of a file, as a table of pandas. ``which`` are the keywords of ``episodes``.

    >>> import merit_rl, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "played.jsonl"
    >>> merit_rl.write_episodes(file, merit_rl.rollout("sums-tools", lambda messages: "answer 7", tasks=2))
    >>> list(merit_rl.frame(file)["turns"])
    [1, 1]
    """
    import pandas

    return pandas.DataFrame(list(_rows(path, which)))


def table(path: str | os.PathLike[str], **which: Any) -> pyarrow.Table:
    """The same as a table of pyarrow, where what is not there is null: a reward too, which is never 0 then.

    >>> import merit_rl, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "played.jsonl"
    >>> merit_rl.write_episodes(file, merit_rl.rollout("sums-tools", lambda messages: "answer 7", tasks=2))
    >>> merit_rl.table(file)["turns"].to_pylist()
    [1, 1]
    """
    import pyarrow

    rows = list(_rows(path, which))
    columns = dict.fromkeys(name for row in rows for name in row)
    return pyarrow.table({name: [row.get(name) for row in rows] for name in columns})
