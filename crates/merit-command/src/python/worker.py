"""Serves one Python class or function to merit: a JSON object per line in, one per line out, with the same id.

Started with one argument, a JSON object: `python` (as the recipe has it), `module` (`mine:Env` or `folder/mine.py:Env`) and
`settings`, the keyword arguments of whatever is made of it. One of world.py, reward.py and tool.py stands below this text and defines
`Served`. The standard library alone, Python 3.9 and later.
"""

import importlib
import importlib.util
import inspect
import json
import os
import random
import sys

# Nothing that other code prints or reads may reach the protocol, so the streams are moved before any of it is imported.
REQUESTS = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
_nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(_nothing, 0)
os.close(_nothing)
os.dup2(2, 1)
sys.stdout = sys.stderr
START = json.loads(sys.argv[1])
sys.argv = [START["module"]]


class Unusable(Exception):
    """What was named cannot be served: what is wrong, where, and what to do."""


def load():
    """The object that `module` names."""
    where, _, path = START["module"].rpartition(":")
    found = module_of_file(where) if where.endswith(".py") else module_by_name(where)
    for at, name in enumerate(path.split(".")):
        if not hasattr(found, name):
            import difflib

            known = [other for other in vars(found) if not other.startswith("_")] if hasattr(found, "__dict__") else []
            near = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            owner = ".".join([where, *path.split(".")[:at]])
            raise Unusable(f"`{owner}` has no `{name}`{hint}; the file is {getattr(found, '__file__', 'unknown')}")
        found = getattr(found, name)
    return found


def module_of_file(file):
    file = os.path.abspath(file)
    if not os.path.isfile(file):
        raise Unusable(f"there is no file {file}; paths are relative to the current directory, {os.getcwd()}")
    # What stands beside it can be imported, as for a program.
    sys.path.insert(0, os.path.dirname(file))
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    imported(lambda: spec.loader.exec_module(module), name)
    return module


def module_by_name(name):
    return imported(lambda: importlib.import_module(name), name)


def imported(work, name):
    """Imports, or says why not in a sentence."""
    try:
        return work()
    except ModuleNotFoundError as error:
        python = START["python"]
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise Unusable(
                f"`{python}` has no module `{error.name}`: it is not in {os.getcwd()}, nor in PYTHONPATH, nor installed; "
                f"name its file, as in `folder/{name}.py:…`, or install it for `{python}`"
            ) from None
        raise Unusable(
            f"`{name}` imports `{error.name}`, which `{python}` does not have ({place(error)}); "
            f"install it there, or name an interpreter that has it by `python`"
        ) from None
    except BaseException as error:
        raise Unusable(f"`{name}` cannot be imported: {told(error)}") from None


def told(error):
    """An exception in one line, with the place in somebody else's code where it was raised."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]} ({place(error)})"


def place(error):
    import traceback

    # The first frames are this file's.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != "<string>"]
    frames = [frame for frame in frames if "importlib" not in frame.filename] or frames
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else "in no file"


def accepted(function, offered):
    """Those of `offered` that the function takes by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return offered
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return offered
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return {name: value for name, value in offered.items() if name in by_name}


def can_be_called(function, called, *args, **kwargs):
    """Refuses a signature that a call with these arguments does not fit."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise Unusable(f"`{called}{signature}` cannot be called as merit calls it: {error}") from None


def made(factory, settings, **offered):
    """What a class or function gives for the settings of the recipe."""
    offered = accepted(factory, offered) if offered else {}
    can_be_called(factory, START["module"], **settings, **offered)
    return factory(**settings, **offered)


def text_of(text):
    """A text that every JSON reader takes: halves of characters are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def seed_everything(seed):
    """Code that draws from the global generators draws the same again."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def serve():
    served = unusable = None
    try:
        served = Served(load())
    except Unusable as error:
        unusable = str(error)
    except BaseException as error:
        unusable = f"`{START['module']}` cannot be made: {told(error)}"
    for line in REQUESTS:
        request = json.loads(line)
        try:
            answer = {"error": unusable} if unusable else served.answer(request)
            answer = json.dumps({"id": request["id"], **answer}, allow_nan=False)
        except BaseException as error:
            answer = json.dumps({"id": request["id"], "error": told(error)})
        ANSWERS.write(answer + "\n")
        ANSWERS.flush()
    # Threads that other code started do not keep it.
    os._exit(0)
