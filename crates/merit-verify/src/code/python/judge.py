# The judge: holds the tests, asks the candidate, and says what came of each. Only trusted text runs here.

import ast, signal

FORBIDDEN = ("eval", "exec", "compile")
# What a test may take of the processor's time beyond its limit before this process ends: a single long call into C runs no
# handler of Python's.
LAST_SECONDS = 0.25


def leave_on(number):
    # The C library's own `_exit` as the handler. The default action would not do: this is process 1, which the kernel spares.
    import ctypes

    library = ctypes.CDLL(None)
    library.signal.argtypes = ctypes.c_int, ctypes.c_void_p
    library.signal.restype = ctypes.c_void_p
    library.signal(number, ctypes.cast(library._exit, ctypes.c_void_p))


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

    def __init__(self, name, link):
        super().__init__(name)
        self.__dict__.update(link=link, __all__=[], __file__="solution.py")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.link.name(name)
        except NameMissing as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name, value):
        self.link.rename(name, value)

    def __delattr__(self, name):
        self.link.rename(name)


def guarded(link):
    # What a program returned must never be run as code here.
    refusals = {name: refusal(link, name) for name in FORBIDDEN}
    return {**BUILTINS, **refusals, "super": super_of}


def refusal(link, name):
    def refuse(*_, **__):
        link.end("failed", "the test calls `%s`, which could run what the program returned" % name)
    return refuse


def seeding(link):
    own = random.seed

    def seed(value=None, *args):
        link.seed = value if isinstance(value, (int, float, str)) else None
        own(value, *args)
    return seed


class Judge:
    def __init__(self, channel, plan):
        self.link, self.plan, self.load = Link(channel), plan, None
        self.out, self.err = sys.stdout, sys.stderr
        self.end = time.monotonic() + plan["total"]
        self.link.first_taken = lambda: self.note("heard")
        signal.signal(signal.SIGVTALRM, self.stop)
        leave_on(signal.SIGPROF)

    def run(self):
        # [number, outcome, words, leaned] of each test, up to the one after which the candidate cannot go on.
        outcomes = []
        compiled = [(test, self.compiled(test)) for test in self.plan["tests"]]
        self.await_ready()
        for test, code in compiled if self.load is None else ():
            outcomes.append([test["number"], *self.tried(test, code)])
            self.note(json.dumps(outcomes[-1]))
            if not self.link.alive:
                break
        return {"outcomes": outcomes, "load": self.load}

    def tried(self, test, code, seconds=None):
        try:
            kind, why = self.outcome(test, code, seconds)
        except Trouble as trouble:
            kind, why = trouble.kind, trouble.why
        return kind, clean(why), self.link.leaned

    def note(self, word):
        # Read where this process dies before it can say more.
        print(word, file=self.out, flush=True)

    def stop(self, *_):
        self.link.end("time" if self.link.taken else "broken", "the test did not come to its end in time")

    def await_ready(self):
        # The candidate's start is ours and may take its time; from there on the time is the program's.
        self.link.begin(None, self.end)
        late = "late"
        try:
            self.link.receive()
            self.note("begun")
            self.link.channel.deadline, late = self.deadline(), "time"
            said = self.link.receive()
            if said[0] != "ready":
                known = said[0] == "broken" and said[1] in ("syntax", "raised")
                self.load = [clean(str(part)[:300]) for part in said[1:]] if known else ["unreadable", "", "no answer"]
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
        return Compiled(setup, tree)

    def outcome(self, test, code, seconds=None):
        link, seconds = self.link, seconds or self.plan["seconds"]
        self.note(str(test["number"]))
        random.seed("%s %s" % (self.plan["seed"], test["number"]))
        sys.stdout = sys.stderr = Sink()
        named, data = (code.names, code.data) if code else ((), True)
        link.begin(test["number"], self.deadline(), frozenset(test["builders"]), test["write_back"], named, data)
        sys.modules.update({name: Solution(name, link) for name in PROGRAM_MODULES}, pytest=pytest_module())
        unittest.main, random.seed = lambda *_, **__: None, seeding(link)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            signal.setitimer(signal.ITIMER_PROF, seconds + LAST_SECONDS)
            why = self.call(test) if code is None else self.asserts(test, code)
        except BaseException as error:
            if type(error).__name__ == "DeadlinePassed":
                raise
            return self.classified(error, test)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.restore()
        if link.trouble:
            return link.trouble.kind, link.trouble.why
        if not link.heard:
            return "broken", "it passes without asking the program anything"
        return ("passed", "") if why is None else ("failed", why)

    def restore(self):
        # What a test has patched and left.
        sys.stdout, sys.stderr, sys.stdin = self.out, self.err, STDIN
        sys.argv[:] = self.link.argv
        for name in ("input", "print", "open"):
            setattr(builtins, name, BUILTINS[name])
        random.seed = SEED

    def classified(self, error, test):
        link = self.link
        trouble = link.trouble or (error if isinstance(error, Trouble) else None)
        if trouble:
            return trouble.kind, trouble.why
        if "_program_says" in getattr(error, "__dict__", ()):
            kind = "memory" if isinstance(error, MemoryError) else "exception"
            return kind, error._program_says
        if isinstance(error, AssertionError):
            return "failed", place_of(error, test) + (": " + short(error) if error.args else "")
        if link.missing and isinstance(error, (NameError, ImportError, AttributeError)):
            return "failed", "the program defines no `%s`" % link.missing
        if not link.taken and not link.errors:
            return "broken", "%s %s" % (short(error), place_of(error, test))
        kind = "memory" if isinstance(error, MemoryError) else "failed"
        return kind, "%s: %s" % (place_of(error, test), short(error))

    def asserts(self, test, code):
        scope = Scope(self.link)
        try:
            for name, module in code.modules.items():
                scope[name] = __import__(module, fromlist=["*"])
            exec(code.setup, scope)
        except (Exception, SystemExit) as error:
            if not self.link.taken:
                self.link.end("broken", "its setup raised %s" % short(error))
            raise
        entry = test["entry_point"]
        if entry:
            scope[entry.partition("(")[0]] = self.link.name(entry.partition("(")[0])
        exec(code.tests, scope)
        if type(scope.get("check")) is types.FunctionType and not code.checks:
            if not entry:
                self.link.end("broken", "it defines `check` and names no `entry_point` to check")
            scope["check"](self.function(entry))
        Suite(scope).run()

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


SEED = random.seed


class Compiled:
    # A test's statements, what they use of Python's and what they name.

    def __init__(self, setup, tree):
        self.setup = compile(setup, "<setup>", "exec", dont_inherit=True)
        self.tests = compile(tree, "<test>", "exec", dont_inherit=True)
        self.modules, self.names = modules_of(tree), names_of(tree) | names_of(setup)
        self.data = not setup.body and is_data(tree)
        sizes = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int]
        self.sizes = sorted({size for size in sizes if 0 < size < 1000})[:4]
        # Whether the statements call `check` themselves.
        calls = [one.value.func for one in tree.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
        self.checks = any(isinstance(one, ast.Name) and one.id == "check" for one in calls)


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
