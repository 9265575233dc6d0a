# Vets tests: each is tried on programs that do no work. What one of those passes proves nothing of a program by itself.
#
# Impostors live in this process and answer as a candidate does, so that a test sees of them what it would see of one. What
# goes wrong here is the test's doing: no program had a word in it.


class Agreeable:
    # Agrees with everything and has everything.

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = lambda self, *_: True
    __instancecheck__ = __subclasscheck__ = __exit__ = lambda self, *_: True
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __mod__ = lambda self, *_: self
    __neg__ = __abs__ = __round__ = lambda self, *_: self
    __float__ = lambda self: 0.0
    __hash__ = __len__ = __int__ = __index__ = lambda self: 0
    __call__ = __enter__ = __getitem__ = lambda self, *_, **__: self
    __iter__ = lambda self: iter(())
    __str__ = __repr__ = lambda self: ""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class Null(Agreeable):
    # Differs from nothing: what is left after taking something from it is 0.

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __mod__ = lambda self, *_: 0.0
    __neg__ = __abs__ = __round__ = lambda self, *_: 0.0


def sized(size):
    kind = type("Sized", (Agreeable,), {"__len__": lambda self: size, "__index__": lambda self: size})
    return lambda name: kind()


class Object:
    # What an impostor's classes build: every method does `act`.

    def __init__(self, act):
        self._act = act

    def __call__(self, *args, **kwargs):
        self._act.remember(args)
        return self._act(*args, **kwargs) if args and self._act.eager else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._act


def doing(act, eager=False, remember=len):
    act.eager, act.remember = eager, remember
    return lambda name: Object(act) if name[:1].isupper() else act


def returning(value):
    return doing(lambda *_, **__: value)


def raising(kind):
    def act(*_, **__):
        raise kind("no")

    def named(name):
        if name.endswith(("Error", "Exception")):
            return type(name, (kind,), {})
        return doing(act, eager=True)(name)
    return named


class OwnError(Exception):
    pass


def raising_own():
    # Raises an exception class that the test knows of the program.
    made = {}

    def act(*_, **__):
        raise next(iter(made.values()), RuntimeError)("no")

    def named(name):
        if name[:1].isupper() and not made or name in made or name.endswith(("Error", "Exception")):
            return made.setdefault(name, type(name, (Exception,), {}))
        return doing(act, eager=True)(name)
    return named


def emptying(answer):
    # Empties what it is given, so that expected values made from it afterwards are empty as well.
    held = []

    def remember(args):
        held[:0] = [one for one in args if isinstance(one, (list, dict, set, bytearray))]

    def act(*args, **_):
        remember(args)
        for one in held:
            one.clear()
        return answer(held)
    return doing(act, remember=remember)


def nothing(name):
    raise KeyError(name)


# What tells whether expected values are made from the arguments after the call.
USING = {
    "returns its first argument": doing(lambda *args, **_: args[0] if args else None),
    "empties its arguments and returns the first": emptying(lambda emptied: emptied[0] if emptied else None),
    "empties its arguments and returns nothing": emptying(lambda _: None),
}
IMPOSTORS = {
    "defines nothing": nothing,
    "returns None": returning(None),
    "agrees with everything": lambda name: Agreeable(),
    "agrees with everything and differs by 0": lambda name: Null(),
    **{"returns %r" % (value,): returning(value) for value in (True, False, 0, 1, -1, "", [], {}, (), 0.0)},
    "raises RuntimeError": raising(RuntimeError),
    "ends loops with StopIteration": raising(StopIteration),
}


class Loop:
    # Both ends of a line in one process: each request is answered before the next is sent.

    def __init__(self):
        self.deadline, self.said, self.judge, self.candidate = None, [], None, None

    def send(self, message):
        if message[0] == "ask":
            self.said.append(self.judge.asked(*message[1:]))
        elif message[0] in REPLIES:
            self.said.append(message)
        else:
            self.candidate.answer(message)

    def receive(self):
        return self.said.pop()


class Impostor(Candidate):
    def __init__(self, channel, named):
        super().__init__(channel, None)
        self.named, self.made = named, {}

    def resolve(self, name, *change):
        if change:
            self.rename(self.made, name, *change[0])
            return ["value", None, None, None, []]
        try:
            if name not in self.made:
                self.made[name] = self.named(name)
        except KeyError:
            return ["missing"]
        return ["value", self.packed(self.made[name], 0), None, None, []]


class Vetting(Judge):
    # Says line by line what came of each test, so that nothing is lost where a test ends this process.

    def run(self):
        time.sleep = lambda _: None
        for test in self.plan["tests"]:
            number, skip = test["number"], test["skip"]
            try:
                code = self.compiled(test)
                if code is None:
                    self.call_literals(test)
            except Exception as error:
                self.say("bad", number, short(error))
                continue
            if code is not None and not code.data:
                self.vet(test, code, skip)
            self.say("vetted", number)

    def say(self, *words):
        self.note("@" + json.dumps(words))

    def call_literals(self, test):
        for one in (test["args"], list(test["kwargs"].values()), test["result"]):
            literal(one)

    def vet(self, test, code, skip):
        spent = time.process_time()
        self.seconds = self.plan["seconds"]
        most = self.plan["seconds"] + 1
        impostors = {**USING, **self.impostors(code)}
        auto = test["write_back"] == "auto"
        mode = "always" if auto else test["write_back"]
        for at, (name, named) in enumerate(impostors.items()):
            if at < skip or time.process_time() - spent > most:
                continue
            self.say("at", test["number"], at)
            test["write_back"] = mode
            kind, why, leaned = self.try_impostor(test, code, named)
            if auto and name in USING and kind == "passed" and mode == "always":
                # Expected values are made from the arguments: the test sees them as they were.
                test["write_back"] = "none-returned"
                kind, why, leaned = self.try_impostor(test, code, named)
                if kind != "passed":
                    mode = test["write_back"]
                    self.say("mode", test["number"], mode)
            if at == skip:
                # Whoever takes much longer than the first hangs.
                self.seconds = min(self.seconds, 0.5 + 2 * (time.process_time() - spent))
            if kind == "broken":
                self.say("bad", test["number"], why)
                return
            if kind == "passed" and name == "defines nothing":
                self.say("bad", test["number"], "it passes where the program defines nothing")
                return
            # Handing back what was given may well be the work.
            if kind == "passed" and name != "returns its first argument":
                self.say("passed", test["number"], name, leaned)

    def impostors(self, code):
        named = sorted(name for name in code.names if known_error(name) and name not in ("Exception", "BaseException"))
        more = {"raises %s" % name: raising(known_error(name)) for name in named}
        for size in code.sizes:
            more["agrees with everything and has %d parts" % size] = sized(size)
        return {**IMPOSTORS, **more, "raises an exception class of its own": raising_own()}

    def try_impostor(self, test, code, named):
        loop = Loop()
        self.link = loop.judge = Link(loop)
        loop.candidate = Impostor(loop, named)
        self.link.first_taken = lambda: self.note("heard")
        return self.tried(test, code, self.seconds)


def run_vetting(plan):
    Vetting(None, plan).run()
    return "vetted"
