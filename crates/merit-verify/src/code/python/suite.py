# How tests are found in a test's text and run: statements, `check(candidate)`, functions and classes called `test…`,
# `unittest` classes, and what pytest files use of pytest.

import contextlib, inspect, math, re, tempfile, unittest

PROGRAM_MODULES = ("solution", "main", "candidate", "submission", "program", "your_module", "my_module", "your_solution")
THIRD_PARTY = {"np": "numpy", "pd": "pandas", "plt": "matplotlib", "numpy": "numpy", "pandas": "pandas", "scipy": "scipy",
               "sympy": "sympy", "torch": "torch", "sklearn": "sklearn", "networkx": "networkx", "nx": "networkx"}


class Skipped(unittest.SkipTest):
    pass


class Raises:
    # `pytest.raises`: a context, or a call.

    def __init__(self, expected, match=None):
        self.expected, self.match, self.value, self.type = expected, match, None, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise AssertionError("did not raise %s" % (self.expected,))
        if not issubclass(kind, self.expected):
            return False
        self.value, self.type = error, kind
        if self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError("`%s` does not match %r" % (error, self.match))
        return True


def raises(expected, function=None, *args, match=None, **kwargs):
    context = Raises(expected, match)
    if function is None:
        return context
    with context:
        function(*args, **kwargs)
    return context


class Approx:
    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, got):
        return self.near(got, self.expected)

    def near(self, got, want):
        if isinstance(want, dict):
            return isinstance(got, dict) and got.keys() == want.keys() and all(self.near(got[k], want[k]) for k in want)
        if isinstance(want, (list, tuple)):
            return isinstance(got, (list, tuple)) and len(got) == len(want) and all(map(self.near, got, want))
        if type(got) is Remote or isinstance(got, bool) != isinstance(want, bool):
            return False
        if not isinstance(got, (int, float, complex)) and not hasattr(type(got), "__float__"):
            return got == want
        if want != want or got != got:
            return self.nan_ok and want != want and got != got
        margin = max(1e-12 if self.abs is None else self.abs,
                     abs(want) * (1e-6 if self.rel is None and self.abs is None else self.rel or 0))
        return got == want or abs(got - want) <= margin < float("inf")

    def __repr__(self):
        return "approximately %r" % (self.expected,)


class Marks:
    # `pytest.mark`: `parametrize` and `skip` count; every other mark is only a mark.

    def parametrize(self, names, values, **_):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def mark(test):
            rows = [row.values if isinstance(row, Row) else row if len(names) > 1 else (row,) for row in values]
            test.__dict__.setdefault("rows", []).append([dict(zip(names, row)) for row in rows])
            return test
        return self.on(mark)

    def on(self, mark):
        # A class is marked by marking its tests.
        def each(test):
            if isinstance(test, type):
                for name, value in vars(test).items():
                    if name.startswith("test") and isinstance(value, types.FunctionType):
                        mark(value)
                return test
            return mark(test)
        return each

    def skip(self, *_, **__):
        def mark(test):
            test.skipped = True
            return test
        return mark(_[0]) if _ and callable(_[0]) else mark

    def skipif(self, condition, **_):
        return self.skip() if condition else lambda test: test

    def __getattr__(self, name):
        return lambda *args, **_: args[0] if len(args) == 1 and callable(args[0]) else lambda test: test


class Row:
    def __init__(self, *values, **_):
        self.values = values


class MonkeyPatch:
    def __init__(self):
        self.stack = contextlib.ExitStack()

    def setattr(self, owner, name, *value, raising=True):
        from unittest import mock

        if value:
            self.stack.enter_context(mock.patch.object(owner, name, value[0], create=not raising))
        else:
            self.stack.enter_context(mock.patch(owner, name))

    def delattr(self, owner, name, raising=True):
        value = getattr(owner, name)
        delattr(owner, name)
        self.stack.callback(setattr, owner, name, value)

    def setitem(self, table, name, value):
        from unittest import mock

        self.stack.enter_context(mock.patch.dict(table, {name: value}))

    def setenv(self, name, value, prepend=None):
        self.setitem(os.environ, name, str(value))

    def delenv(self, name, raising=True):
        self.stack.callback(os.environ.update, {name: os.environ[name]} if name in os.environ else {})
        os.environ.pop(name, None)


class Captured:
    # `capsys`: streams of the test's own, as long as it runs.

    def __init__(self):
        self.streams = io.StringIO(), io.StringIO()

    def readouterr(self):
        texts = [stream.getvalue() for stream in self.streams]
        for stream in self.streams:
            stream.seek(0)
            stream.truncate()
        return Output(*texts)


from collections import namedtuple

Output = namedtuple("Output", "out err")


def fixture(function=None, autouse=False, **_):
    def mark(function):
        function.is_fixture, function.autouse = True, autouse
        return function
    return mark(function) if callable(function) else mark


def fail(reason="", **_):
    raise AssertionError(reason)


def skip(reason="", **_):
    raise Skipped(reason)


def pytest_module():
    module = types.ModuleType("pytest")
    module.__dict__.update(raises=raises, approx=Approx, mark=Marks(), param=Row, fixture=fixture, fail=fail, skip=skip,
                           MonkeyPatch=MonkeyPatch, main=lambda *_, **__: 0)
    return module


class Suite:
    # What the test's text has defined, and how it is run.

    def __init__(self, scope):
        self.scope = scope

    def run(self):
        for name, value in list(self.scope.items()):
            if isinstance(value, type) and value.__module__ == "tests" and issubclass(value, unittest.TestCase):
                self.skippable(unittest.defaultTestLoader.loadTestsFromTestCase(value).debug)
            elif isinstance(value, type) and value.__module__ == "tests" and name.startswith("Test"):
                self.run_class(value)
            elif name.startswith("test") and type(value) is types.FunctionType and not hasattr(value, "is_fixture"):
                self.run_function(value)

    def run_class(self, kind):
        if getattr(kind, "skipped", False) is True or hasattr(kind, "__init__") and "__init__" in vars(kind):
            return
        self.hook(kind, "setup_class")
        for name in [name for name in dir(kind) if name.startswith("test") and callable(getattr(kind, name))]:
            own = kind()
            self.hook(own, "setup_method", getattr(own, name))
            self.run_function(getattr(own, name), own)
            self.hook(own, "teardown_method", getattr(own, name))
        self.hook(kind, "teardown_class")

    def hook(self, owner, name, *args):
        hook = getattr(owner, name, None)
        if hook is not None:
            hook(*args[:len(inspect.signature(hook).parameters)])

    def skippable(self, test):
        with contextlib.suppress(unittest.SkipTest):
            test()

    def run_function(self, test, own=None):
        rows = [{}]
        for more in getattr(test, "rows", []):
            rows = [{**one, **other} for one in rows for other in more]
        if getattr(test, "skipped", False):
            return
        for row in rows:
            with contextlib.ExitStack() as stack:
                self.skippable(lambda: self.call(test, row, stack, own))

    def call(self, test, row, stack, own):
        made = {}
        for name, value in list(self.scope.items()):
            if isinstance(value, types.FunctionType) and getattr(value, "autouse", False):
                self.resource(name, row, stack, own, made)
        parameters = inspect.signature(test).parameters.values()
        wanted = [one.name for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        result = test(**{name: self.resource(name, row, stack, own, made) for name in wanted})
        if inspect.iscoroutine(result):
            import asyncio

            asyncio.run(result)

    def resource(self, name, row, stack, own, made):
        # The value of a test's parameter: of its row, a fixture, or one of pytest's own.
        if name in row:
            return row[name]
        if name not in made:
            made[name] = self.make(name, row, stack, own, made)
        return made[name]

    def make(self, name, row, stack, own, made):
        function = getattr(own, name, None) if own is not None else None
        function = function if getattr(function, "is_fixture", False) else self.scope.get(name)
        if getattr(function, "is_fixture", False) is not True:
            return self.offered(name, stack)
        args = {one: self.resource(one, row, stack, own, made) for one in inspect.signature(function).parameters}
        value = function(**args)
        if not inspect.isgenerator(value):
            return value
        stack.callback(next, value, None)
        return next(value)

    def offered(self, name, stack):
        if name == "capsys":
            captured = Captured()
            stack.enter_context(contextlib.redirect_stdout(captured.streams[0]))
            stack.enter_context(contextlib.redirect_stderr(captured.streams[1]))
            return captured
        if name == "monkeypatch":
            patch = MonkeyPatch()
            stack.callback(patch.stack.close)
            return patch
        if name == "tmp_path":
            import pathlib

            return pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        raise TypeError("the test wants `%s`, and nothing here makes one" % name)


def names_of(tree):
    # Names in the text that are not only bound.
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return loaded | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def modules_of(tree):
    # Modules that a test uses by attribute without importing them: they are Python's own, whatever the program calls by
    # that name.
    used, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(node.value.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    known = {name: name for name in sys.stdlib_module_names} | THIRD_PARTY
    return {name: known[name] for name in used - bound if name in known}


def refuse_dangers(tree, entry_point):
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN and node.id != entry_point:
            raise ValueError("it names `%s`, which could run what the program returned" % node.id)


def try_imports(tree):
    # Modules that the statements import without further ado must be there before the program is asked anything.
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        else:
            continue
        for name in names:
            if name not in PROGRAM_MODULES and name != "pytest":
                __import__(name)


# Builtins whose result is plain where their argument is: what they are given of the program's is only read.
READING = frozenset("list tuple set frozenset dict sorted str int float bool round len sum abs".split())


def is_data(tree):
    # Whether the statements only hold calls of the program with literal arguments against literal values.
    def literal(node):
        parts = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.unaryop, ast.operator,
                 ast.expr_context)
        if not all(isinstance(part, parts) for part in ast.walk(node)):
            return False
        try:
            eval(compile(ast.Expression(node), "<test>", "eval", dont_inherit=True), {})
        except Exception:
            return False
        return True

    def asked(node):
        if not isinstance(node, ast.Call) or any(word.arg is None for word in node.keywords):
            return False
        if not isinstance(node.func, ast.Name):
            return False
        args = [*node.args, *(word.value for word in node.keywords)]
        if node.func.id in READING and len(args) >= 1 and asked(args[0]):
            return all(map(literal, args[1:]))
        return node.func.id not in BUILTINS and all(map(literal, args))

    def holds(node):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return False
        left, kind, right = node.left, node.ops[0], node.comparators[0]
        if isinstance(kind, (ast.Eq, ast.Is)):
            return asked(left) and literal(right) or literal(left) and asked(right)
        small = isinstance(kind, (ast.Lt, ast.LtE)) and literal(right)
        if not (small and isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "abs"):
            return False
        apart = left.args[0] if len(left.args) == 1 else None
        return isinstance(apart, ast.BinOp) and isinstance(apart.op, ast.Sub) and (
            asked(apart.left) and literal(apart.right) or literal(apart.left) and asked(apart.right))

    return bool(tree.body) and all(isinstance(one, ast.Assert) and holds(one.test) for one in tree.body)
