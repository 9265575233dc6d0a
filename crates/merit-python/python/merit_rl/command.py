"""The command ``merit``, which comes with the package, as functions: it runs as a process of its own."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from merit_rl.errors import InputError, MeritError

_WRONG_INPUT = 2

Path = str | os.PathLike[str]
Events = list[dict[str, Any]]


def program() -> str:
    """The path of the command: beside this interpreter, or on the PATH.

    >>> import pathlib
    >>> from merit_rl import command
    >>> pathlib.Path(command.program()).name
    'merit'
    """
    beside = pathlib.Path(sys.executable).parent / "merit"
    if beside.exists():
        return str(beside)
    found = shutil.which("merit")
    if found is None:
        raise MeritError("the command `merit` is neither beside this interpreter nor on the PATH; install merit-rl again")
    return found


def run(*arguments: Path | int, input: str | None = None, timeout: float | None = None) -> str:
    """Runs ``merit`` with these arguments and gives what it prints.

    >>> import merit_rl
    >>> merit_rl.run("--version").startswith("merit ")
    True
    """
    words = [program(), *map(os.fspath, map(str, arguments))]
    done = subprocess.run(words, input=input, text=True, capture_output=True, timeout=timeout)
    if done.returncode != 0:
        raise (InputError if done.returncode == _WRONG_INPUT else MeritError)(_complaint(done))
    return done.stdout


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What a process said that did not end well."""
    said = done.stderr.strip().splitlines()
    return "\n".join(line.removeprefix("merit: ") for line in said) or f"it ended with {done.returncode}"


def _lines(*arguments: Path | int) -> Events:
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def _set(changes: Mapping[str, Any] | None) -> list[str]:
    return [word for key, value in (changes or {}).items() for word in ("--set", f"{key}={_toml(value)}")]


def _toml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _flags(**flags: Path | int | None) -> list[Any]:
    return [word for name, value in flags.items() if value is not None for word in (f"--{name}", value)]


def train(
    recipe: Path,
    folder: Path,
    *,
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    on: str | None = None,
    actors: int | None = None,
    replay_lost: bool = False,
) -> Events:
    """Trains by a recipe into a new folder; the events of the run, the last of which is its result.

    ``on="ray"``, or the address of a Ray cluster, lets actors there play the episodes; the record is the same. What is lost with an actor is
    played again; where the world or its tools reach outside only with ``replay_lost``, and it is an infrastructure failure otherwise.

    >>> import merit_rl, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "run"
    >>> small = {"budget.steps": 1, "warm_start.steps": 5, "evaluation.tasks": 4, "controls": []}
    >>> events = merit_rl.train("sums-tools", folder, set=small)
    >>> len(merit_rl.episodes(folder)) > 4
    True
    """
    more = _flags(threads=threads, on=on, actors=actors) + (["--replay-lost"] if replay_lost else [])
    return _lines("train", recipe, "--run", folder, "--seed", seed, *more, *_set(set))


def reproduce(
    *systems: Path,
    smoke: bool = False,
    seeds: str | int | None = None,
    set: Mapping[str, Any] | None = None,
    on: str | None = None,
    cells: Path | None = None,
    results: Path | None = None,
    replay_lost: bool = False,
) -> Events:
    """Runs systems of the laboratory, on a Ray cluster if told; cells as they finished, then results.

    ``cells`` is the folder of finished cells and pages, ``runs/lab`` by default, and ``results`` that of what is recorded, ``results`` by
    default, both from the current folder. Cells that are there are not run again. A cell that is lost with its worker is run again where that changes
    nothing but its record; where it reaches outside only with ``replay_lost``, and it is an infrastructure failure otherwise.

    >>> import merit_rl, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> *cells, last = merit_rl.reproduce("cpr-norms", smoke=True, cells=folder / "cells", results=folder / "results")
    >>> last["result"]["system"]
    'cpr-norms'
    """
    more = (["--smoke"] if smoke else []) + (["--replay-lost"] if replay_lost else []) + _flags(seeds=seeds, on=on, cells=cells, results=results)
    return _lines("reproduce", *systems, *more, *_set(set))


def compare(*runs: Path) -> Events:
    """Sets runs, imports or results of ``reproduce`` side by side.

    >>> import merit_rl, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> small = {"budget.steps": 1, "warm_start.steps": 5, "evaluation.tasks": 4, "controls": []}
    >>> for steps in (5, 6):
    ...     _ = merit_rl.train("sums-tools", folder / str(steps), set={**small, "warm_start.steps": steps})
    >>> len(merit_rl.compare(folder / "5", folder / "6")) > 0
    True
    """
    return _lines("compare", *runs)
