"""The package as it is installed: docstrings, the command, the documentation, tables."""

import doctest
import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import merit_rl
from merit_rl import _merit


def test_docstrings_are_programs_that_run():
    tried = 0
    for name, what in vars(_merit).items():
        for test in doctest.DocTestFinder(recurse=False).find(what, name, globs={}):
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
            assert result.failed == 0, name
            tried += result.attempted
    assert tried > 10


def test_everything_public_has_a_docstring():
    for name in merit_rl.__all__:
        assert name.startswith("__") or getattr(merit_rl, name).__doc__, name


def test_the_command_comes_with_the_package():
    assert merit_rl.run("--version").split()[1] == importlib.metadata.version("merit-rl") == merit_rl.__version__
    with pytest.raises(merit_rl.InputError, match="did you mean"):
        merit_rl.run("train", "ledger-tool")


def test_it_trains_and_its_episodes_are_a_table(tmp_path):
    small = {"budget.steps": 1, "warm_start.steps": 5, "evaluation.tasks": 4, "controls": []}
    events = merit_rl.train("sums-tools", tmp_path / "run", set=small)
    assert events[-1]
    table = merit_rl.frame(tmp_path / "run")
    assert {"reward", "outcome", "turns", "phase"} <= set(table.columns) and len(table) > 4
    merit_rl.train("sums-tools", tmp_path / "other", set={**small, "warm_start.steps": 6})
    assert merit_rl.compare(tmp_path / "run", tmp_path / "other")


def test_importing_it_brings_nothing_else():
    heavy = "import sys, merit_rl; print({'numpy', 'pandas', 'gymnasium', 'ray', 'torch'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", heavy], text=True) == "set()\n"


def test_stubs_name_what_there_is():
    stubs = pathlib.Path(merit_rl.__file__).with_name("_merit.pyi").read_text()
    for name in vars(_merit):
        assert name.startswith("__") or f"class {name}" in stubs or f"def {name}(" in stubs, name
