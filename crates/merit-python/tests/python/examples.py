"""The examples in the docstrings of a module of the package, as a reader would type them."""

import doctest
import importlib
import inspect


def public(module):
    """The classes and functions that the module defines for others."""
    made = importlib.import_module(module)
    # Some are made when they are first asked for.
    names = {*vars(made), *getattr(made, "_OF_VERL", ())}
    found = {name: getattr(made, name) for name in names if not name.startswith("_")}
    return {name: one for name, one in found.items() if (inspect.isclass(one) or inspect.isfunction(one)) and one.__module__ == module}


def run(module, **given):
    """Runs them all; `given` are names that an example leaves to the reader. Every public name has one."""
    found = public(module)
    assert found, module
    for name, what in found.items():
        # What an example defines is shipped by value, as from a program.
        [test] = doctest.DocTestFinder(recurse=False).find(what, name, globs={"__name__": "__main__", **given})
        ran = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
        assert ran.attempted and not ran.failed, (module, name)
