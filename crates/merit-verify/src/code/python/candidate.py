# The candidate: runs the program and serves calls of its functions and classes. It knows no test.
#
# Everything here shares the interpreter with the program, so nothing here is to be trusted: at worst the program sends
# wrong values, which it could have returned as well.

import operator, types


BUILD, WRITES = 1, 2
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
    "deepcopy": deeply_copied, "dir": dir,
}
for name in ("eq ne lt le gt ge add sub mul truediv floordiv mod pow matmul and or xor lshift rshift neg pos invert "
             "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift "
             "getitem setitem delitem contains index").split():
    VERBS[name] = getattr(operator, "__%s__" % name)


class Candidate:
    def __init__(self, channel, module):
        self.channel, self.module = channel, module
        self.test, self.objects, self.numbers = None, {}, {}

    def serve(self):
        while True:
            self.answer(self.channel.receive())

    def answer(self, request):
        # One request of the judge, whatever it leads to.
        verb, test, *rest = request
        if test != self.test:
            self.test, self.objects, self.numbers = test, {}, {}
        try:
            reply = self.resolve(*rest) if verb == "name" else self.act(verb, *rest)
        except SystemExit:
            reply = ["exit"]
        except Gone:
            raise
        except Unfit as error:
            reply = ["unfit", str(error)]
        except BaseException as error:
            reply = self.raised(error)
        try:
            self.channel.send(reply)
        except (Unfit, RecursionError) as error:
            self.channel.send(["unfit", str(error)])

    def resolve(self, name):
        if name not in self.module.__dict__:
            return ["missing"]
        return ["value", self.packed(self.module.__dict__[name], 0), None]

    def act(self, verb, flags, args, names, values):
        reader = Reader(self.special)
        args = reader.read(args)
        kwargs = dict(zip(names, reader.read(values)))
        given = list(reader.kept)
        value = VERBS[verb](*args, **kwargs)
        told = verb == "call" and given and (value is None or flags & WRITES)
        return ["value", self.packed(value, flags & BUILD), self.writes(given) if told else None]

    def writes(self, given):
        # What the argument containers hold now, in the order of their numbers.
        packer = Packer(self.handle, {id(one): (number, one) for number, one in enumerate(given)})
        return [packer.contents(one, 1) for one in given]

    def packed(self, value, build):
        if build and type(value).__module__ not in PLAIN_HOMES:
            return self.handle(value)
        return Packer(self.handle).pack(value)

    def number(self, value):
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects[number] = value
        return number

    def handle(self, value):
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.error_class(value)
        return ["h", self.number(value), type(value).__name__]

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
        raise Unfit("%r is not understood" % (wire[0],))

    def callback(self, number, name):
        # A function of the tests: it is called where it lives.
        def asked(*args, **kwargs):
            packer = Packer(self.handle)
            self.channel.send(["ask", number, packer.pack(args), packer.pack(kwargs)])
            return self.told()

        asked.__name__ = asked.__qualname__ = name
        return asked

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
        return ["raise", self.error_class(type(error)), args, text, own if type(own) is int else None]


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
        channel.send(["broken", "ended", "", ""])
        return
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
