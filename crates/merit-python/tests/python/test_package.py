"""The package as it is installed: docstrings, the command, the documentation, tables."""

import ast
import doctest
import importlib.metadata
import importlib.util
import inspect
import json
import pathlib
import signal
import subprocess
import sys
import time

import examples
import pytest

import merit_rl
from merit_rl import _merit
from merit_rl.command import program


def test_docstrings_are_programs_that_run():
    ran = set()
    for name, what in {**vars(_merit), **{name: getattr(merit_rl, name) for name in merit_rl.__all__}}.items():
        # Tables of pyarrow are tried where it is: test_episodes.py.
        if name == "table" and importlib.util.find_spec("pyarrow") is None:
            ran.add(name)
            continue
        for test in doctest.DocTestFinder(recurse=False).find(what, name, globs={}):
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
            assert result.failed == 0, name
            ran |= {name} if result.attempted else set()
    assert {name for name in merit_rl.__all__ if not name.startswith("__")} <= ran


def modules():
    """Every module that others read, with its source. What begins with an underscore is the package's own."""
    for file in sorted(pathlib.Path(merit_rl.__file__).parent.glob("*.py")):
        if not file.stem.startswith("_") or file.stem == "__init__":
            yield file.stem, ast.parse(file.read_text())


def is_public(name):
    return not name.startswith("_") or name in ("__init__", "__call__", "__enter__", "__exit__")


def defined(tree):
    """The public functions and classes of a module, also classes that a function makes, with their public methods."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(node.name):
            yield node, True
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            yield node, node in tree.body or node.name.startswith("Merit")
            for method in node.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(method.name):
                    yield method, False


def test_every_public_name_says_what_it_takes_and_gives_and_shows_how_it_is_used():
    seen = 0
    for module, tree in modules():
        for node, shows in defined(tree):
            what = f"{module}.{node.name}, line {node.lineno}"
            if shows:
                assert ">>> " in (ast.get_docstring(node) or ""), f"{what} has no example"
                seen += 1
            if isinstance(node, ast.ClassDef):
                continue
            assert node.returns is not None, f"{what} does not say what it gives"
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            unsaid = [one.arg for one in given if one is not None and one.annotation is None and one.arg != "self"]
            assert not unsaid, f"{what} does not say what these are: {unsaid}"
    assert seen > 30


def test_the_examples_of_every_module_are_run_by_some_test():
    tests = "".join(file.read_text() for file in pathlib.Path(__file__).parent.glob("test_*.py"))
    ran = {module for module, _ in modules() if f'examples.run("merit_rl.{module}"' in tests}
    # Those of the package itself are run above.
    assert ran | {"__init__"} == {module for module, _ in modules()}


def test_examples_of_what_needs_no_trainer_run():
    examples.run("merit_rl.command")
    examples.run("merit_rl.errors")
    examples.run("merit_rl.gym")


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


def test_systems_are_reproduced_where_they_are_told_to(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    where = {"cells": tmp_path / "cells", "results": tmp_path / "results"}
    *cells, last = merit_rl.reproduce("cpr-norms", smoke=True, **where)
    assert len(cells) == last_done(cells) > 0 and last["result"]["system"] == "cpr-norms"
    assert (tmp_path / "cells" / "cpr-norms").is_dir() and not (tmp_path / "results").exists()
    merit_rl.reproduce("conformal-abstention", **where)
    result = json.loads((tmp_path / "results" / "conformal-abstention.json").read_text())
    assert result["system"] == "conformal-abstention"
    assert not list((tmp_path / "here").iterdir())


def last_done(cells):
    return max(cell["done"] for cell in cells)


def told(function):
    """The parameters of a function in the stubs: name, kind and default of each."""
    given, kinds = function.args, inspect.Parameter
    positional = given.posonlyargs + given.args
    defaults = [inspect.Parameter.empty] * (len(positional) - len(given.defaults)) + given.defaults
    found = [(one.arg, kinds.POSITIONAL_ONLY if at < len(given.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD, default)
             for at, (one, default) in enumerate(zip(positional, defaults))]
    found += [(given.vararg.arg, kinds.VAR_POSITIONAL, kinds.empty)] if given.vararg else []
    found += [(one.arg, kinds.KEYWORD_ONLY, kinds.empty if default is None else default) for one, default in zip(given.kwonlyargs, given.kw_defaults)]
    found += [(given.kwarg.arg, kinds.VAR_KEYWORD, kinds.empty)] if given.kwarg else []
    return [(name, kind, ast.literal_eval(default) if isinstance(default, ast.expr) else default) for name, kind, default in found]


def has(function):
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stubs_say_what_there_is():
    stubs = ast.parse(pathlib.Path(merit_rl.__file__).with_name("_merit.pyi").read_text())
    functions = [node for node in stubs.body if isinstance(node, ast.FunctionDef)]
    classes = {node.name: node for node in stubs.body if isinstance(node, ast.ClassDef) and hasattr(_merit, node.name)}
    assert public(vars(_merit)) == public({node.name for node in functions}) | set(classes)
    for function in functions:
        assert told(function) == has(getattr(_merit, function.name)), function.name
    for name, stub in classes.items():
        made = getattr(_merit, name)
        methods = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        assert public(vars(made)) == public(methods), name
        # What only merit makes cannot be called.
        assert ("__init__" in methods) == (made.__text_signature__ is not None), name
        for method, node in methods.items():
            words = {word.id for word in node.decorator_list}
            if "property" in words:
                assert inspect.isgetsetdescriptor(vars(made)[method]) or inspect.ismemberdescriptor(vars(made)[method]), (name, method)
            elif method == "__init__":
                assert told(node)[1:] == has(made), name
            else:
                assert isinstance(vars(made)[method], staticmethod) == ("staticmethod" in words), (name, method)
                own = 0 if "staticmethod" in words else 1
                assert told(node)[own:] == has(getattr(made, method))[own:], (name, method)
