"""Stand-ins for what a protocol module imports beside the protocol, so that it can be loaded without its package's dependencies.

Only what is named is loaded from the unpacked wheel; every other module that it asks for and that is not installed is an empty one, whose
names are classes that take anything. The classes that write an answer are the server's own and are left as they are.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from pydantic_core import core_schema


class Anything(type):
    """A class that has every attribute, is any type in an annotation, and as a number a large one."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return made(name)

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __getitem__(cls, _):
        return cls

    def __iter__(cls):
        return iter(())

    def __index__(cls):
        return 1 << 30


def made(name):
    def schema(cls, _source, _handler):
        return core_schema.any_schema()

    # As a decorator it gives back what it decorates.
    def new(cls, *given, **_named):
        return given[0] if len(given) == 1 and callable(given[0]) else object.__new__(cls)

    def silent(self, *_given, **_named):
        return None

    body = {"__get_pydantic_core_schema__": classmethod(schema), "__new__": new, "__init__": silent, "__call__": silent}
    return Anything(name, (), body | {"__getattr__": lambda self, _name: silent})


class Stub(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return made(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads `real` modules of the package from its folder; other modules of it, and what is not installed, are stubs."""

    def __init__(self, package, folder, real):
        self.package, self.folder, self.real = package, folder, real

    def find_spec(self, name, _path=None, _target=None):
        own = name == self.package or name.startswith(f"{self.package}.")
        if own and name in self.real:
            return importlib.util.spec_from_file_location(name, self.folder / (name.replace(".", "/") + ".py"))
        if own or name.split(".")[0] in self.missing:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass

    missing = frozenset({"torch", "regex", "transformers", "numpy", "orjson", "xgrammar", "IPython", "PIL", "requests", "zmq", "psutil"})


def loaded(package, folder, modules):
    """The named modules of the package that is unpacked in `folder`."""
    sys.meta_path.insert(0, Finder(package, folder, modules))
    return [importlib.import_module(name) for name in modules]
