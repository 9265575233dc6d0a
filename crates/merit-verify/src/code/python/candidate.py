# The candidate: runs the program and serves calls of its functions and classes. It knows no test.
#
# Everything here shares the interpreter with the program, so nothing here is to be trusted: at worst the program sends
# wrong values, which it could have returned as well.

import operator, types


BUILD, WRITES, CAPTURE = 1, 2, 4
PLAIN_HOMES = ("builtins", "collections", "datetime", "decimal", "fractions")


def enter(value):
    return type(value).__enter__(value)


def leave(value, name, text):
    error = exception_named(name)(text) if name else None
    return type(value).__exit__(value, type(error) if name else None, error, None)


def call(function, *args, **kwargs):
    return function(*args, **kwargs)


def copied(value):
    import copy

    return copy.copy(value)


def deeply_copied(value):
    import copy

    return copy.deepcopy(value)


def derived(name, names, values, *bases):
    # A class that a test derives from one of the program's: what it defines is called where it lives.
    return type(bases[0])(name, bases, dict(zip(names, values)))


def above(kind, value):
    return super(kind, value)


LOOP = []


def finished(awaitable):
    # Runs it to its end. All of a program's share one loop.
    import asyncio

    async def through():
        return await awaitable

    if not LOOP:
        LOOP.append(asyncio.new_event_loop())
        asyncio.set_event_loop(LOOP[0])
    return LOOP[0].run_until_complete(through())


def asynchronous(name):
    return lambda value, *args: finished(getattr(type(value), name)(value, *args))


def exception_named(name):
    import builtins

    kind = getattr(builtins, name, None)
    known = isinstance(kind, type) and issubclass(kind, Exception)
    return kind if known else RuntimeError


VERBS = {
    "call": call, "getattr": getattr, "setattr": setattr, "delattr": delattr, "len": len, "iter": iter,
    "next": next, "repr": repr, "str": str, "hash": hash, "bool": bool, "format": format, "isinstance": isinstance,
    "issubclass": issubclass, "int": int, "float": float, "complex": complex, "bytes": bytes, "reversed": reversed,
    "abs": abs, "round": round, "divmod": divmod, "enter": enter, "leave": leave, "copy": copied,
    "deepcopy": deeply_copied, "dir": dir, "send": lambda value, sent: value.send(sent), "derive": derived, "super": above, "await": finished,
    "aiter": lambda value: type(value).__aiter__(value), "anext": asynchronous("__anext__"),
    "aenter": asynchronous("__aenter__"), "aexit": asynchronous("__aexit__"),
}
for name in ("eq ne lt le gt ge add sub mul truediv floordiv mod pow matmul and or xor lshift rshift neg pos invert "
             "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift "
             "getitem setitem delitem contains index").split():
    VERBS[name] = getattr(operator, "__%s__" % name)


class World:
    # What a test has put in the place of the program's surroundings, for the time of one call.

    def __init__(self, flags, changes):
        self.capture, self.changes, self.undo = flags & CAPTURE, changes, []

    def put(self, owner, name, value):
        self.undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def __enter__(self):
        import builtins

        if self.capture:
            import io

            self.streams = io.StringIO(), io.StringIO()
            self.put(sys, "stdout", self.streams[0])
            self.put(sys, "stderr", self.streams[1])
        for name, value in self.changes:
            if name == "seed":
                import random

                random.seed(value)
            elif name == "environ":
                os.environ.clear()
                os.environ.update(value)
            else:
                self.put(builtins if name in ("input", "print", "open") else sys, name, value)
        return self

    def __exit__(self, *_):
        for owner, name, value in reversed(self.undo):
            setattr(owner, name, value)

    def printed(self):
        return [stream.getvalue() for stream in self.streams] if self.capture else None


class Candidate:
    def __init__(self, channel, module):
        self.channel, self.module = channel, module
        self.test, self.objects, self.numbers, self.givens, self.before, self.watched = None, {}, {}, {}, {}, []

    def serve(self):
        while True:
            self.answer(self.channel.receive())

    def answer(self, request):
        # One request of the judge, whatever it leads to.
        verb, test, *rest = request
        if test != self.test:
            self.test, self.objects, self.numbers, self.givens, self.watched = test, {}, {}, {}, []
        printed = [None]
        try:
            reply = self.resolve(*rest) if verb in NAMES else self.act(verb, printed, *rest)
        except Gone:
            raise
        except Unfit as error:
            reply = ["unfit", str(error)]
        except BaseException as error:
            reply = [*self.raised(error), printed[0]]
        try:
            self.channel.send(reply)
        except (Unfit, RecursionError, MemoryError) as error:
            self.channel.send(["unfit", str(error)[:300]])

    def resolve(self, name, *change):
        # The program's own name, as it is or as a test wants it.
        names = self.module.__dict__
        if change:
            self.rename(names, name, *change[0])
            return ["value", None, None, None, []]
        if name not in names:
            return ["missing"]
        value = names[name]
        if isinstance(value, types.ModuleType):
            return ["value", ["m", str(value.__name__)], None, None, []]
        return ["value", self.packed(value, 0), None, None, []]

    def rename(self, names, name, *wire):
        # Puts a value there, or back what was there before.
        if wire:
            self.before.setdefault(name, names.get(name))
            names[name] = Reader(self.special).read(wire[0])
        elif name in self.before:
            names[name] = self.before.pop(name)

    def act(self, verb, printed, flags, args, names, values, changes, base):
        reader = Reader(self.special)
        args = reader.read(args)
        kwargs = dict(zip(names, reader.read(values)))
        given = list(reader.kept)
        changes = [(name, Reader(self.special).read(value)) for name, value in changes]
        with World(flags, changes) as world:
            try:
                value = VERBS[verb](*args, **kwargs)
            finally:
                printed[0] = world.printed()
        packer, writes = Packer(self.handle), None
        if verb == "call" and given and (value is None or flags & WRITES):
            # What the argument containers hold now, in the order of their numbers; a value that is one of them is that one.
            packer.seen = {id(one): (number, one) for number, one in enumerate(given)}
            writes = [packer.contents(one, 1) for one in given]
        self.handled = False
        made = self.packed(value, flags & BUILD, packer)
        later = self.changed() if flags & WRITES else []
        if self.handled and flags & WRITES:
            # What it returned may hold on to what it was given.
            self.watched += [[base + at, one, packed_alone(one)] for at, one in enumerate(given)][:MOST_WATCHED]
            self.watched = self.watched[-MOST_WATCHED:]
        return ["value", made, writes, printed[0], later]

    def changed(self):
        # Containers of earlier calls that hold something else now.
        found = []
        for one in self.watched:
            contents = packed_alone(one[1])
            if contents != one[2]:
                one[2] = contents
                found.append([one[0], contents])
        return [one for one in found if one[1] is not None]

    def packed(self, value, build, packer=None):
        if build and type(value).__module__ not in PLAIN_HOMES:
            return self.handle(value)
        return (packer or Packer(self.handle)).pack(value)

    def number(self, value):
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects[number] = value
        return number

    def handle(self, value):
        self.handled = True
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.error_class(value)
        if id(value) in self.givens and self.givens[id(value)][1] is value:
            return ["g", self.givens[id(value)][0]]
        if isinstance(value, BaseException):
            return ["x", *self.raised(value)[1:]]
        kind = KINDS.get(type(value), "h")
        return [kind, self.number(value), type(value).__name__]

    def error_class(self, kind):
        # An exception class by the program's own classes in it and the first builtin one.
        own = [base for base in kind.__mro__ if base.__module__ != "builtins"]
        first = next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")
        return ["e", [[self.number(base), base.__name__] for base in own], first]

    def special(self, reader, wire):
        if wire[0] == "h":
            return self.objects[wire[1]]
        if wire[0] == "f":
            return self.callback(wire[1], wire[2])
        if wire[0] == "g":
            return self.given(*wire[1:])
        raise Unfit("%r is not understood" % (wire[0],))

    def callback(self, number, name):
        # A function of the tests: it is called where it lives.
        def asked(*args, **kwargs):
            return self.ask(number, "call", *args, **kwargs)

        asked.__name__ = asked.__qualname__ = name
        return self.keep_given(number, asked)

    def given(self, number, name, verbs):
        # An object of the tests, with the abilities it has there.
        return self.keep_given(number, given_class(name, tuple(verbs))(lambda *ask: self.ask(number, *ask)))

    def keep_given(self, number, value):
        self.givens[id(value)] = number, value
        return value

    def ask(self, number, verb, *args, **kwargs):
        packer = Packer(self.handle)
        self.channel.send(["ask", number, verb, packer.pack(args), packer.pack(kwargs)])
        return self.told()

    def told(self):
        # What the judge says to a question; until then it may ask in turn.
        while True:
            message = self.channel.receive()
            if message[0] == "told":
                return Reader(self.special).read(message[1])
            if message[0] == "threw":
                error = exception_named(message[1])(message[2])
                error.__judge__ = message[3]
                raise error
            self.answer(message)

    def raised(self, error):
        try:
            args = Packer(self.handle).pack(error.args)
            encode(args)
        except Exception:
            args = ["t"]
        try:
            text = str(error)[:500]
        except BaseException:
            text = ""
        own = getattr(error, "__judge__", None)
        own = own if type(own) is int else None
        return ["raise", self.error_class(type(error)), args, text, own, self.attributes(error), self.number(error)]

    def attributes(self, error):
        try:
            names = [name for name in vars(error) if type(name) is str and not name.startswith("_")][:50]
            made = [[name, Packer(self.handle).pack(vars(error)[name])] for name in names]
            encode(made)
            return made
        except Exception:
            return []


NAMES = ("name", "rename")
MOST_WATCHED = 32


def unwatched(_):
    raise Unfit("no plain data")


def packed_alone(value):
    # What a container holds, where that is plain data and little; None otherwise.
    try:
        return Packer(unwatched).contents(value, 1) if len(value) <= 1000 else None
    except Unfit:
        return None


KINDS = {types.CoroutineType: "k", types.GeneratorType: "y"}


def given_class(name, verbs):
    # Made once for each set of abilities.
    if (name, verbs) not in GIVEN:
        able = {"__%s__" % verb: forwarded(verb) for verb in verbs}
        able["__init__"] = lambda self, ask: object.__setattr__(self, "_ask", ask)
        able["__getattr__"] = lambda self, name: self._ask("getattr", name)
        able["__setattr__"] = lambda self, name, value: self._ask("setattr", name, value)
        GIVEN[name, verbs] = type(name, (), able)
    return GIVEN[name, verbs]


def forwarded(verb):
    return lambda self, *args, **kwargs: self._ask(verb, *args, **kwargs)


GIVEN = {}


def load(program):
    module = types.ModuleType("solution")
    module.__file__ = "solution.py"
    sys.modules["solution"] = module
    import linecache

    linecache.cache["solution.py"] = (len(program), None, program.splitlines(True), "solution.py")
    exec(compile(program, "solution.py", "exec", dont_inherit=True), module.__dict__)
    return module


def run_candidate(fd, program):
    channel = Channel(fd)
    channel.send(["starting"])
    candidate = Candidate(channel, None)
    try:
        candidate.module = load(program)
    except SystemExit:
        # What it has defined until then is there.
        candidate.module = sys.modules.get("solution")
    except SyntaxError as error:
        text = "%s (line %s)" % (error.msg, error.lineno)
        kind = "syntax" if error.filename == "solution.py" else "raised"
        channel.send(["broken", kind, type(error).__name__, text])
        return
    except BaseException as error:
        channel.send(["broken", "raised", type(error).__name__, candidate.raised(error)[3]])
        return
    channel.send(["ready"])
    try:
        candidate.serve()
    except Gone:
        pass
