"""The package as it is installed: docstrings, the command, the documentation, tables."""

import doctest
import importlib.metadata
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import merit_rl
from merit_rl import _merit
from merit_rl.command import program


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


def test_the_command_ends_as_the_binary_does(tmp_path):
    def ended(*words, **more):
        return subprocess.run([program(), *words], capture_output=True, text=True, timeout=120, cwd=tmp_path, **more)

    assert ended("list", "worlds").returncode == 0
    assert ended("--help").stdout.startswith("merit") or "Usage: merit" in ended("--help").stdout
    wrong = ended("train", "ledger-tool")
    assert wrong.returncode == 2 and wrong.stderr.startswith("merit: ") and "Traceback" not in wrong.stderr
    assert ended("no-such-command").returncode == 2
    assert "sums-tools" in ended("--", "merit", "train", "sums", env={"MERIT_COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": "2"}).stdout
    alone = ended("--version", env={"PATH": "/nowhere"})
    assert alone.stdout.split()[1] == merit_rl.__version__


def test_ctrl_c_is_the_commands_own(tmp_path):
    words = [program(), "train", "sums-tools", "--run", "run", "--set", "warm_start.steps=1", "--set", "controls=[]"]
    training = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while training.poll() is None and not (tmp_path / "run").exists():
        time.sleep(0.05)
    time.sleep(1)
    training.send_signal(signal.SIGINT)
    _, said = training.communicate(timeout=120)
    assert training.returncode == 130 and "Traceback" not in said and "KeyboardInterrupt" not in said, said


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
