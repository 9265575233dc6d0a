# The judge's end of the line: asks the candidate one question at a time and trusts nothing it says.

import builtins

BUILD, WRITES = 1, 2
# What the candidate may say, and how many parts each message has.
REPLIES = {"value": 3, "missing": 1, "raise": 5, "ask": 4, "exit": 1, "unfit": 2, "starting": 1, "ready": 1, "broken": 4}


class Trouble(BaseException):
    # Ends a test whatever the test catches. `kind` is the outcome.

    def __init__(self, kind, why):
        super().__init__(why)
        self.kind, self.why = kind, why


class Link:
    # The judge's end: one question at a time, each answered by plain data or a Remote.

    def __init__(self, channel):
        self.channel, self.alive, self.first_taken = channel, True, lambda: None

    def begin(self, test, deadline, builders, write_back="none-returned"):
        self.test, self.channel.deadline, self.builders, self.write_back = test, deadline, builders, write_back
        self.heard, self.taken, self.trouble, self.depth, self.missing = False, False, None, 0, None
        self.callbacks, self.thrown, self.errors = [], [], {}

    def end(self, kind, why):
        self.trouble = self.trouble or Trouble(kind, why)
        raise self.trouble

    def name(self, name):
        reply = self.exchange(["name", self.test, name])
        if reply[0] == "missing":
            self.missing = name
            raise NameMissing("the program defines no `%s`" % name, name=name)
        if type(reply[1]) is not list or reply[1][:1] not in (["h"], ["e"]):
            self.take()
        return self.value(reply[1], name[:1].isupper() or name in self.builders, builder=True)

    def do(self, verb, *args, flags=0, open=False, **kwargs):
        packer = Packer(self.given)
        try:
            request = [verb, self.test, flags | (WRITES if self.write_back == "always" else 0),
                       packer.pack(args), list(kwargs), packer.pack(tuple(kwargs.values()))]
        except TooBig as error:
            self.end("output" if self.taken else "broken", "an argument is too large: %s" % error)
        except Unfit as error:
            self.end("failed" if self.taken else "broken", "an argument cannot be given to a program: %s" % error)
        reply = self.exchange(request)
        self.take()
        value = self.value(reply[1], open)
        if reply[2] is not None and (value is None or self.write_back == "always") and self.write_back != "never":
            self.write(packer, reply[2])
        return value

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
        return self.checked(reply)

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

    def checked(self, reply):
        if reply[0] == "exit":
            self.end("ended", "the program ended")
        if reply[0] == "unfit":
            self.end("output", "an answer is too large: %s" % str(reply[1])[:200])
        if reply[0] == "raise":
            self.take()
            self.throw(*reply[1:])
        if reply[0] not in ("value", "missing"):
            self.lose("failed", "an answer is unreadable")
        return reply

    def value(self, wire, open=False, builder=False):
        reader = Reader(lambda _, wire: self.special(wire, open, builder))
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
            return Remote(self, int(wire[1]), str(wire[2])[:100], not builder and open, builder and open)
        if wire[0] == "e":
            return self.error_class(wire[1], wire[2])
        raise Unfit("%r is not understood" % (wire[0],))

    def error_class(self, chain, base):
        # An exception class of the program, below those it derives from, so that tests can catch it.
        kind = known_error(base) or Exception
        for number, name in reversed(chain[:20]):
            if int(number) not in self.errors:
                self.errors[int(number)] = type(str(name)[:100], (kind,), {"remote_number": int(number)})
            kind = self.errors[int(number)]
        return kind

    def given(self, value):
        # What stands for a value that is no plain data, on the way to the program.
        if isinstance(value, Remote):
            return ["h", value._remote_number]
        if isinstance(value, type) and getattr(value, "remote_number", None) in self.errors:
            return ["h", value.remote_number]
        if callable(value):
            self.callbacks.append(value)
            return ["f", len(self.callbacks) - 1, str(getattr(value, "__name__", "function"))]
        raise Unfit("a value of class %s is no plain data" % type(value).__name__)

    def asked(self, number, args, kwargs):
        # The program calls a function that the test gave it.
        if type(number) is not int or not 0 <= number < len(self.callbacks):
            raise Unfit("there is no such function")
        self.take()
        args, kwargs = self.value(args), self.value(kwargs)
        self.depth += 1
        if self.depth > 50:
            self.end("failed", "functions call each other through the program more than 50 deep")
        try:
            return ["told", Packer(self.given).pack(self.callbacks[number](*args, **kwargs))]
        except Unfit as error:
            self.end("failed", "what a function of the test returned cannot be given to a program: %s" % error)
        except Exception as error:
            self.thrown.append(error)
            return ["threw", type(error).__name__, short(error), len(self.thrown) - 1]
        finally:
            self.depth -= 1

    def throw(self, kind, args, text, own):
        if type(own) is int and 0 <= own < len(self.thrown):
            raise self.thrown[own]
        kind, args = self.value(kind), self.value(args)
        if not (isinstance(kind, type) and issubclass(kind, Exception) and type(args) is tuple):
            self.lose("failed", "an answer is unreadable")
        try:
            error = kind(*args)
        except Exception:
            error = kind.__new__(kind)
            error.args = (str(text),)
        error.from_program = True
        error.program_says = "%s: %s" % (kind.__name__, str(text)[:300])
        raise error

    def write(self, packer, contents):
        # What the program did to the containers it was given.
        own = [one for _, one in packer.seen.values()]
        try:
            if len(contents) != len(own):
                raise Unfit("%d containers of %d" % (len(contents), len(own)))
            reader = Reader(lambda _, wire: self.special(wire, False, False), list(own))
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


class NameMissing(NameError):
    pass


def known_error(name):
    kind = getattr(builtins, str(name), None)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None


def short(error):
    try:
        text = str(error)[:300]
    except Exception:
        text = "(its text could not be made)"
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__
