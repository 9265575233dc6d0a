# The judge: holds the tests, asks the candidate, and says what came of each. Only trusted text runs here.

import ast, random, signal, types

FORBIDDEN = ("eval", "exec", "compile")


class Sink:
    # Where tests print to.

    def write(self, text):
        return len(text)

    def flush(self):
        pass


class Scope(dict):
    # The global names of a test: its own, then Python's, then the program's.

    def __init__(self, link):
        super().__init__(__name__="tests", __builtins__=guarded(link))
        self.link = link

    def __missing__(self, name):
        if name.startswith("__") or name in BUILTINS:
            raise KeyError(name)
        return self.link.name(name)


class Solution(types.ModuleType):
    # `import solution` in a test.

    def __init__(self, link):
        super().__init__("solution")
        self.__dict__["link"] = link
        self.__dict__["__all__"] = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.link.name(name)
        except NameMissing as error:
            raise AttributeError(str(error)) from None


BUILTINS = dict(builtins.__dict__)


def guarded(link):
    # What a program returned must never be run as code here.
    def refusal(name):
        def refuse(*_, **__):
            link.end("failed", "the test calls `%s`, which could run what the program returned" % name)
        return refuse

    return {**BUILTINS, **{name: refusal(name) for name in FORBIDDEN}}


class Judge:
    def __init__(self, channel, plan):
        self.link, self.plan, self.load = Link(channel), plan, None
        self.out, self.err = sys.stdout, sys.stderr
        self.end = time.monotonic() + plan["total"]
        self.link.first_taken = lambda: self.note("heard")
        signal.signal(signal.SIGVTALRM, self.stop)

    def run(self):
        # [number, outcome, words] of each test, up to the one after which the candidate cannot go on.
        outcomes, compiled = [], []
        for test in self.plan["tests"]:
            try:
                compiled.append((test, self.compiled(test)))
            except Exception as error:
                return {"outcomes": [[test["number"], "broken", short(error)]], "load": None}
        self.await_ready()
        for test, code in compiled if self.load is None else ():
            try:
                found = self.outcome(test, code)
            except Trouble as trouble:
                found = trouble.kind, trouble.why
            outcomes.append([test["number"], *found])
            self.note(json.dumps(outcomes[-1]))
            if not self.link.alive or outcomes[-1][1] == "broken":
                break
        return {"outcomes": outcomes, "load": self.load}

    def note(self, word):
        # Read where this process dies before it can say more.
        print(word, file=self.out, flush=True)

    def stop(self, *_):
        self.link.end("time" if self.link.taken else "broken", "the test did not come to its end in time")

    def await_ready(self):
        # The candidate's start is ours and may take its time; from there on the time is the program's.
        self.link.begin(None, self.end, frozenset())
        late = "late"
        try:
            self.link.receive()
            self.link.channel.deadline, late = self.deadline(), "time"
            said = self.link.receive()
            if said[0] != "ready":
                self.load = [str(part)[:300] for part in said[1:]] if said[0] == "broken" else ["ended", "", ""]
        except Late:
            self.load = [late, "", ""]
        except Gone:
            self.load = ["ended", "", ""]
        except Exception as error:
            self.load = ["unreadable", "", short(error)]

    def deadline(self):
        return min(time.monotonic() + self.plan["seconds"], self.end)

    def compiled(self, test):
        if test["type"] != "asserts":
            return None
        setup, tree = ast.parse(test["setup"], "<setup>"), ast.parse(test["code"], "<test>")
        for part in (setup, tree):
            refuse_dangers(part, test["entry_point"])
            try_imports(part)
        made = [compile(part, name, "exec", dont_inherit=True) for part, name in ((setup, "<setup>"), (tree, "<test>"))]
        return *made, modules_of(tree)

    def outcome(self, test, code):
        link = self.link
        self.note(str(test["number"]))
        random.seed("%s %s" % (self.plan["seed"], test["number"]))
        link.begin(test["number"], self.deadline(), frozenset(test["builders"]), test["write_back"])
        sys.stdout = sys.stderr = Sink()
        sys.modules["solution"] = Solution(link)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, self.plan["seconds"])
            why = self.call(test) if code is None else self.asserts(test, *code)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except (Exception, Trouble, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            return self.classified(error, test)
        finally:
            sys.stdout, sys.stderr = self.out, self.err
        if link.trouble:
            return link.trouble.kind, link.trouble.why
        if not link.heard:
            return "broken", "it passes without asking the program anything"
        return ("passed", "") if why is None else ("failed", why)

    def classified(self, error, test):
        link = self.link
        trouble = link.trouble or (error if isinstance(error, Trouble) else None)
        if trouble:
            return trouble.kind, trouble.why
        if getattr(error, "from_program", False):
            kind = "memory" if isinstance(error, MemoryError) else "exception"
            return kind, error.program_says
        if isinstance(error, AssertionError):
            return "failed", place_of(error, test) + (": " + short(error) if error.args else "")
        if link.missing and isinstance(error, (NameError, ImportError, AttributeError)):
            return "failed", "the program defines no `%s`" % link.missing
        if not link.taken:
            return "broken", "%s %s" % (short(error), place_of(error, test))
        kind = "memory" if isinstance(error, MemoryError) else "failed"
        return kind, "%s: %s" % (place_of(error, test), short(error))

    def asserts(self, test, setup, code, modules):
        scope = Scope(self.link)
        try:
            for name in modules:
                scope[name] = __import__(name)
            exec(setup, scope)
        except (Exception, SystemExit) as error:
            if not self.link.taken:
                self.link.end("broken", "its setup raised %s" % short(error))
            raise
        entry = test["entry_point"]
        if entry:
            scope[entry.partition("(")[0]] = self.link.name(entry.partition("(")[0])
        exec(code, scope)
        if callable(scope.get("check")):
            if not entry:
                self.link.end("broken", "it defines `check` and names no `entry_point` to check")
            scope["check"](self.function(entry))
        for name, value in list(scope.items()):
            if name.startswith("test") and type(value) is types.FunctionType and not value.__code__.co_argcount:
                value()
            elif isinstance(value, type) and value.__module__ == "tests" and hasattr(value, "assertEqual"):
                import unittest

                unittest.defaultTestLoader.loadTestsFromTestCase(value).debug()

    def function(self, path):
        # `f`, or `Solution().f`.
        owner, _, method = path.partition("().")
        return getattr(self.link.name(owner)(), method) if method else self.link.name(owner)

    def call(self, test):
        args = [literal(one) for one in test["args"]]
        kwargs = {name: literal(one) for name, one in test["kwargs"].items()}
        want = literal(test["result"])
        got = self.function(test["function"])(*args, **kwargs)
        if test["in_place"]:
            got = args[0]
        if Same(test["types"], test["tolerance"]).same(got, want):
            return None
        return "%s gave %s" % (test["function"], shown(got))


def literal(value):
    # JSON's own, or an object with the one key `$python` and a Python literal.
    if type(value) is list:
        return [literal(one) for one in value]
    if type(value) is not dict:
        return value
    if list(value) == ["$python"]:
        return ast.literal_eval(value["$python"])
    return {name: literal(one) for name, one in value.items()}


def shown(value):
    try:
        text = "a value of class " + value._remote_kind if type(value) is Remote else repr(value)
    except Exception as error:
        text = "what cannot be shown: " + short(error)
    return text if len(text) <= 120 else text[:117] + "..."


def modules_of(tree):
    # Standard modules that a test uses by attribute without importing them: they are Python's own, whatever the program
    # calls by that name.
    used, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(node.value.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
    return sorted((used & sys.stdlib_module_names) - bound)


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
            if name != "solution":
                __import__(name)


def place_of(error, test):
    # The line of the test where it happened.
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<test>":
            line = trace.tb_lineno
        trace = trace.tb_next
    lines = test.get("code", "").splitlines()
    return "`%s`" % lines[line - 1].strip()[:160] if line and line <= len(lines) else "the test"


def run_judge(fd, plan):
    return Judge(Channel(fd), plan).run()
