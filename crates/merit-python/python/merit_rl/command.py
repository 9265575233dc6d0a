"""The command ``merit``, which comes with the package, as functions: it runs as a process of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from merit_rl.errors import InputError, MeritError

_WRONG_INPUT = 2


def program():
    """The path of the command: beside this interpreter, or on the PATH."""
    beside = pathlib.Path(sys.executable).parent / "merit"
    if beside.exists():
        return str(beside)
    found = shutil.which("merit")
    if found is None:
        raise MeritError("the command `merit` is neither beside this interpreter nor on the PATH; install merit-rl again")
    return found


def run(*arguments, input=None, timeout=None):
    """Runs ``merit`` with these arguments and gives what it prints.

    >>> import merit_rl
    >>> merit_rl.run("--version").startswith("merit ")
    True
    """
    words = [program(), *map(os.fspath, map(str, arguments))]
    done = subprocess.run(words, input=input, text=True, capture_output=True, timeout=timeout)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        why = "\n".join(line.removeprefix("merit: ") for line in said) or f"it ended with {done.returncode}"
        raise (InputError if done.returncode == _WRONG_INPUT else MeritError)(why)
    return done.stdout


def _lines(*arguments):
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def _set(changes):
    return [word for key, value in (changes or {}).items() for word in ("--set", f"{key}={_toml(value)}")]


def _toml(value):
    return value if isinstance(value, str) else json.dumps(value)


def _flags(**flags):
    return [word for name, value in flags.items() if value is not None for word in (f"--{name}", value)]


def train(recipe, folder, *, seed=1, set=None, threads=None, on=None, actors=None):
    """Trains by a recipe into a new folder; the events of the run, the last of which is its result.

    ``on="ray"``, or the address of a Ray cluster, lets actors there play the episodes; the record is the same.
    """
    more = _flags(threads=threads, on=on, actors=actors)
    return _lines("train", recipe, "--run", folder, "--seed", seed, *more, *_set(set))


def reproduce(*systems, smoke=False, seeds=None, set=None, on=None):
    """Runs systems of the laboratory, on a Ray cluster if told; cells as they finished, then results."""
    more = (["--smoke"] if smoke else []) + _flags(seeds=seeds, on=on)
    return _lines("reproduce", *systems, *more, *_set(set))


def compare(*runs):
    """Sets runs, imports or results of ``reproduce`` side by side."""
    return _lines("compare", *runs)
