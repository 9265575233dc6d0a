# The judge's end of the line: asks the candidate one question at a time and trusts nothing it says.

import builtins, io, random, types

BUILD, WRITES, CAPTURE = 1, 2, 4
# What the candidate may say, and how many parts each message has.
REPLIES = {"value": 5, "missing": 1, "raise": 8, "ask": 5, "unfit": 2, "starting": 1, "ready": 1, "broken": 4}
# Exceptions that steer loops and processes. They cross only into tests that name them.
STEERING = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "KeyboardInterrupt")
ENDS_LOOP = {"next": "StopIteration", "send": "StopIteration", "anext": "StopAsyncIteration"}


class Trouble(BaseException):
    # Ends a test whatever the test catches. `kind` is the outcome.

    def __init__(self, kind, why):
        super().__init__(why)
        self.kind, self.why = kind, why


class Link:
    # The judge's end: one question at a time, each answered by plain data or a Remote.

    def __init__(self, channel):
        self.channel, self.alive, self.first_taken = channel, True, lambda: None

    def begin(self, test, deadline, builders=frozenset(), write_back="none-returned", named=(), data=False):
        self.test, self.channel.deadline, self.builders, self.write_back = test, deadline, builders, write_back
        self.named, self.data = named, data
        self.heard, self.taken, self.leaned, self.trouble, self.depth, self.missing = False, False, False, None, 0, None
        self.callbacks, self.numbers, self.thrown, self.errors, self.running = [], {}, [], {}, {}
        self.remotes, self.lent, self.sent = {}, {}, []
        self.streams = sys.stdout, sys.stderr
        self.seed, self.argv, self.environ = None, list(sys.argv), dict(os.environ)

    def end(self, kind, why):
        self.trouble = self.trouble or Trouble(kind, why)
        raise self.trouble

    def name(self, name):
        reply = self.exchange(["name", self.test, name])
        if reply[0] == "missing":
            self.missing = name
            raise NameMissing("the program defines no `%s`" % name, name=name)
        wire = reply[1]
        if type(wire) is list and wire[:1] == ["m"]:
            return own_module(wire[1]) or self.end("failed", "the program's `%s` is no module of Python's" % name)
        if type(wire) is not list or wire[:1] not in (["h"], ["e"]):
            self.take()
        found = self.value(wire, name[:1].isupper() or name in self.builders, builder=True)
        if type(found) is Remote:
            object.__setattr__(found, "_remote_named", True)
        return found

    def rename(self, name, *value):
        # A test puts something in the place of one of the program's names, or puts back what was there.
        self.exchange(["rename", self.test, name, [Packer(self.given).pack(one) for one in value]])

    def do(self, verb, *args, flags=0, open=False, **kwargs):
        self.leaned = self.leaned or not (verb == "call" and args[0]._remote_named)
        packer = Packer(self.given)
        writes = WRITES if self.write_back == "always" else 0
        capture = CAPTURE if self.streams != (sys.stdout, sys.stderr) else 0
        try:
            request = [verb, self.test, flags | writes | capture, packer.pack(args), list(kwargs),
                       packer.pack(tuple(kwargs.values())), self.changes(), len(self.sent)]
        except TooBig as error:
            self.end("output" if self.taken else "broken", "an argument is too large: %s" % error)
        except Unfit as error:
            self.end("failed" if self.taken else "broken", "an argument cannot be given to a program: %s" % error)
        self.sent += [one for _, one in packer.seen.values()]
        reply = self.exchange(request)
        self.take()
        self.show(reply[3])
        for number, contents in reply[4] if writes else ():
            self.fill(Reader(self.nothing_special), [self.sent[range(len(self.sent))[number]]], [contents])
        open = open and not self.data
        reader = Reader(lambda _, wire: self.special(wire, open, False))
        if reply[2] is not None and (reply[1] is None or writes) and self.write_back != "never":
            self.write(reader, packer, reply[2])
        return self.value(reply[1], open, reader=reader)

    def changes(self):
        # What the test has put in the place of the program's surroundings.
        found = [(name, getattr(builtins, name)) for name in ("input", "print", "open")
                 if getattr(builtins, name) is not BUILTINS[name]]
        if sys.stdin is not STDIN:
            found.append(("stdin", sys.stdin))
        if sys.argv != self.argv:
            found.append(("argv", sys.argv))
        if dict(os.environ) != self.environ:
            found.append(("environ", dict(os.environ)))
        if self.seed is not None:
            found.append(("seed", self.seed))
            self.seed = None
        return [[name, Packer(self.given).pack(value)] for name, value in found]

    def show(self, printed):
        # What the program printed where the test has put streams of its own.
        if printed is None or self.streams == (sys.stdout, sys.stderr):
            return
        for own, stream, text in zip(self.streams, (sys.stdout, sys.stderr), printed):
            if stream is not own and text:
                stream.write(str(text))

    def exchange(self, request):
        if self.trouble:
            raise self.trouble
        try:
            if self.channel.deadline < time.monotonic():
                raise Late()
            self.channel.send(request)
            reply = self.receive()
            while reply[0] == "ask":
                self.channel.send(self.asked(*reply[1:]))
                reply = self.receive()
        except Gone:
            self.lose("ended", "the program ended")
        except Late:
            self.lose("time", "the program did not answer in time")
        except MemoryError:
            self.lose("memory", "an answer is too large")
        except Exception as error:
            self.lose("failed", "an answer is unreadable: %s" % short(error))
        return self.checked(reply, request[0])

    def lose(self, kind, why):
        # After this nobody knows what the next message would answer.
        self.alive = False
        self.end(kind, why)

    def take(self):
        # From here on, what goes wrong in a test may be the doing of something the program said.
        if not self.taken:
            self.taken = True
            self.first_taken()

    def receive(self):
        reply = self.channel.receive()
        self.heard = True
        if type(reply) is not list or len(reply) != REPLIES.get(reply[0] if reply else None):
            raise Unfit("this is no answer")
        return reply

    def checked(self, reply, verb):
        if reply[0] == "unfit":
            self.take()
            self.end("output", "an answer is too large: %s" % str(reply[1])[:200])
        if reply[0] == "raise":
            self.take()
            self.show(reply[7])
            self.throw(verb, *reply[1:7])
        if reply[0] not in ("value", "missing"):
            self.lose("failed", "an answer is unreadable")
        return reply

    def value(self, wire, open=False, builder=False, reader=None):
        reader = reader or Reader(lambda _, wire: self.special(wire, open, builder))
        try:
            return reader.read(wire)
        except Trouble:
            raise
        except MemoryError:
            self.end("memory", "an answer is too large")
        except Exception as error:
            self.end("failed", "an answer is unreadable: %s" % short(error))

    def special(self, wire, open, builder):
        if wire[0] == "h":
            return self.remote(wire, open, builder)
        if wire[0] in ("k", "y"):
            running = (finish if wire[0] == "k" else walk)(self, self.remote(wire, open, builder))
            self.running[id(running)] = running, int(wire[1])
            return running
        if wire[0] == "e":
            return self.error_class(wire[1], wire[2])
        if wire[0] == "x":
            return self.error(*wire[1:4], *wire[5:])
        if wire[0] == "g":
            return self.callbacks[range(len(self.callbacks))[wire[1]]]
        raise Unfit("%r is not understood" % (wire[0],))

    def remote(self, wire, open, builder):
        # One object is one Remote. What the test gave away comes back as what it was.
        number, builds = int(wire[1]), builder and open
        open = open and not builder
        known = self.lent.get(number, self.remotes.get((number, open, builds)))
        if known is None:
            known = self.remotes[number, open, builds] = Remote(self, number, str(wire[2])[:100], open, builds)
        return known

    def error_class(self, chain, base):
        # An exception class of the program, below those it derives from, so that tests can catch it.
        kind = known_error(base) or Exception
        for number, name in reversed(chain[:20]):
            if int(number) not in self.errors:
                own = {"_remote_number": int(number), "__str__": own_text, "__getattr__": own_attribute}
                self.errors[int(number)] = type(str(name)[:100], (kind,), own)
            kind = self.errors[int(number)]
        return kind

    def given(self, value):
        # What stands for a value that is no plain data, on the way to the program.
        if isinstance(value, Remote):
            self.lent[value._remote_number] = value
            return ["h", value._remote_number]
        if isinstance(value, type) and value.__dict__.get("_remote_number") in self.errors:
            return ["h", value._remote_number]
        if id(value) in self.running:
            return ["h", self.running[id(value)][1]]
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.callbacks)
            self.callbacks.append(value)
        if isinstance(value, FUNCTIONS):
            return ["f", number, str(getattr(value, "__name__", "function"))]
        if isinstance(value, types.ModuleType):
            raise Unfit("a module is no plain data")
        able = [verb for verb in GIVEN_VERBS if getattr(type(value), "__%s__" % verb, None) is not None]
        return ["g", number, type(value).__name__, able]

    def asked(self, number, verb, args, kwargs):
        # The program calls a function that the test gave it, or uses an object of the test's.
        if type(number) is not int or not 0 <= number < len(self.callbacks):
            raise Unfit("there is no such object")
        self.take()
        args, kwargs = self.value(args), self.value(kwargs)
        self.depth += 1
        if self.depth > 50:
            self.end("failed", "functions call each other through the program more than 50 deep")
        try:
            return ["told", Packer(self.given).pack(used(verb, self.callbacks[number], *args, **kwargs))]
        except Unfit as error:
            self.end("failed", "what a function of the test returned cannot be given to a program: %s" % error)
        except Exception as error:
            self.thrown.append(error)
            return ["threw", type(error).__name__, short_text(error), len(self.thrown) - 1]
        finally:
            self.depth -= 1

    def throw(self, verb, kind, args, text, own, attributes, number):
        if type(own) is int and 0 <= own < len(self.thrown):
            raise self.thrown[own]
        steering = type(kind) is list and len(kind) > 2 and kind[2] in STEERING and kind[2]
        if steering and steering != ENDS_LOOP.get(verb) and steering not in self.named:
            if steering == "SystemExit":
                self.end("ended", "the program ended")
            self.end("exception", "%s: %s" % (steering, str(text)[:300]))
        raise self.error(kind, args, text, attributes, number)

    def error(self, kind, args, text, attributes, number):
        # The program's exception as one of the judge's own.
        kind, args = self.value(kind), self.value(args)
        if not (isinstance(kind, type) and issubclass(kind, BaseException) and type(args) is tuple):
            self.lose("failed", "an answer is unreadable")
        try:
            error = kind(*args)
        except Exception:
            error = kind.__new__(kind)
            error.args = (str(text),)
        for name, value in attributes:
            if str(name).isidentifier() and not name.startswith("_") and not hasattr(BaseException, name):
                error.__dict__[str(name)] = self.value(value)
        remote = Remote(self, int(number), kind.__name__)
        error.__dict__.update(_program_text=str(text), _program_error=remote,
                              _program_says="%s: %s" % (kind.__name__, str(text)[:300]))
        return error

    def write(self, reader, packer, contents):
        # What the program did to the containers it was given.
        own = [one for _, one in packer.seen.values()]
        reader.kept[:] = own
        self.fill(reader, own, contents)

    def nothing_special(self, _, wire):
        raise Unfit("%r is not understood" % (wire[0],))

    def fill(self, reader, own, contents):
        try:
            if len(contents) != len(own):
                raise Unfit("%d containers of %d" % (len(contents), len(own)))
            fresh = []
            for one, wire in zip(own, contents):
                made = type(one)() if type(one).__name__ != "deque" else type(one)(maxlen=one.maxlen)
                reader.fill(made, wire, 1)
                fresh.append(made)
        except Trouble:
            raise
        except Exception as error:
            self.end("failed", "an answer is unreadable: %s" % short(error))
        for one, made in zip(own, fresh):
            one.clear()
            one.extend(made) if hasattr(one, "extend") else one.update(made)


FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
INSIDES = FUNCTIONS + (types.FrameType, types.CodeType, types.TracebackType, types.ModuleType)
BUILTINS, STDIN = dict(builtins.__dict__), sys.stdin
# What a program may do with an object of the test's.
GIVEN_VERBS = ("call iter next len getitem setitem delitem contains eq ne lt le gt ge hash bool str repr enter exit add sub "
               "mul truediv neg abs int float index reversed").split()


def used(verb, value, *args, **kwargs):
    # Names that lead into a test's inside (`__globals__`, `__class__`) are not for the program.
    if verb == "call":
        return value(*args, **kwargs)
    if verb in ("getattr", "setattr"):
        if type(args[0]) is not str or args[0].startswith(("_", "gi_", "cr_", "ag_")) or isinstance(value, INSIDES):
            raise AttributeError(str(args[0]))
        return getattr(value, args[0]) if verb == "getattr" else setattr(value, *args)
    if verb not in GIVEN_VERBS:
        raise Unfit("%r is not understood" % (verb,))
    return getattr(type(value), "__%s__" % verb)(value, *args)


class NameMissing(NameError):
    pass


async def finish(link, remote):
    # A coroutine of the program's: it runs to its end where it lives.
    return link.do("await", remote)


def walk(link, remote):
    # A generator of the program's, as lazy as it is there.
    sent = None
    while True:
        try:
            value = link.do("next", remote) if sent is None else link.do("send", remote, sent)
        except StopIteration as end:
            return end.value
        sent = yield value


def own_text(self):
    return self.__dict__["_program_text"] if "_program_text" in self.__dict__ else super(type(self), self).__repr__()


def own_attribute(self, name):
    if name.startswith("_") or "_program_error" not in self.__dict__:
        raise AttributeError(name)
    return getattr(self.__dict__["_program_error"], name)


# Modules that do something when they are imported.
NOT_TO_BE_IMPORTED = ("test", "this", "antigravity", "idlelib", "turtledemo", "lib2to3", "ensurepip", "__main__")


def own_module(name):
    # The judge's own copy of a module that the program has under one of its names.
    name = str(name)
    top = name.partition(".")[0]
    if top in NOT_TO_BE_IMPORTED or top not in sys.stdlib_module_names and top not in THIRD_PARTY.values():
        return None
    try:
        return __import__(name, fromlist=["*"])
    except Exception:
        return None


def known_error(name):
    kind = getattr(builtins, str(name), None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def short_text(error):
    try:
        return clean(str(error)[:300])
    except Exception:
        return "(its text could not be made)"


def short(error):
    text = short_text(error)
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def clean(text):
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
