# What the tests see of the program: stubs that ask the candidate, and rules that keep expected values from reaching it.
#
# A value that is no plain data is a Remote. Compared with plain data it is unequal, always. One that the test built by
# calling a class takes data in operators and methods; one that the program returned does not stand in for plain data: it
# can be read (attributes, items, iteration, conversion), called and combined with other Remotes.

# Methods of plain data that take data and tell something about it: on a value that the program returned they would let
# the program answer for the comparison.
ASKING = {name for kind in (str, bytes, list, tuple, dict, set, frozenset, int, float, complex, range)
          for name in dir(kind)} - set(
    "append extend insert remove add discard update clear sort reverse pop popitem setdefault get copy keys values items "
    "__call__ __getitem__ __setitem__ __delitem__ __len__ __iter__ __init__".split())


class Remote:
    # `_remote_open`: the test built it, so it may be given data. `_remote_builds`: calling it builds such objects.

    __slots__ = ("_remote_link", "_remote_number", "_remote_kind", "_remote_open", "_remote_builds", "_remote_asks",
                 "_remote_named")

    def __init__(self, link, number, kind, open=False, builds=False, asks=None):
        put = object.__setattr__
        put(self, "_remote_named", False)
        put(self, "_remote_link", link)
        put(self, "_remote_number", number)
        put(self, "_remote_kind", kind)
        put(self, "_remote_open", open)
        put(self, "_remote_builds", builds)
        put(self, "_remote_asks", asks)

    def __call__(self, *args, **kwargs):
        if self._remote_asks and not all(type(one) is Remote for one in (*args, *kwargs.values())):
            refuse(self, self._remote_asks)
        build = self._remote_builds
        return self._remote_link.do("call", self, *args, flags=BUILD if build else 0, open=build, **kwargs)

    def __getattr__(self, name):
        if name.startswith("_remote_"):
            raise AttributeError(name)
        found = self._remote_link.do("getattr", self, name)
        if not self._remote_open:
            guarded_field(name, found)
        if type(found) is Remote and name in self._remote_link.builders:
            object.__setattr__(found, "_remote_builds", True)
        return found

    __doc__ = property(lambda self: self._remote_link.do("getattr", self, "__doc__"))

    def __setattr__(self, name, value):
        self._remote_link.do("setattr", self, name, value)

    def __delattr__(self, name):
        self._remote_link.do("delattr", self, name)

    def __eq__(self, other):
        if type(other) is not Remote:
            return False
        return self._remote_number == other._remote_number or truth(self._remote_link.do("eq", self, other))

    def __ne__(self, other):
        if type(other) is not Remote:
            return True
        return truth(self._remote_link.do("ne", self, other))

    def __hash__(self):
        return as_kind(self._remote_link.do("hash", self), int)

    def __bool__(self):
        return truth(self._remote_link.do("bool", self))

    def __contains__(self, item):
        if self._remote_open or type(item) is Remote:
            return truth(self._remote_link.do("contains", self, item))
        return any(one is item or one == item for one in self)

    def __next__(self):
        return self._remote_link.do("next", self)

    def __iter__(self):
        return self._remote_link.do("iter", self)

    def __exit__(self, kind, error, _):
        swallows = truth(bool(self._remote_link.do("leave", self, kind and kind.__name__, error and str(error))))
        # A test's own failure is not the program's to swallow.
        return swallows and not isinstance(error, (AssertionError, Trouble))

    def __instancecheck__(self, value):
        return type(value) is Remote and truth(self._remote_link.do("isinstance", value, self))

    def __subclasscheck__(self, kind):
        return type(kind) is Remote and truth(self._remote_link.do("issubclass", kind, self))

    def __format__(self, spec):
        return as_kind(self._remote_link.do("format", self, spec), str)

    def __aiter__(self):
        return self._remote_link.do("aiter", self)

    async def __anext__(self):
        return self._remote_link.do("anext", self)

    async def __aenter__(self):
        return self._remote_link.do("aenter", self, open=self._remote_open)

    async def __aexit__(self, kind, error, _):
        self._remote_link.do("aexit", self, None, None, None)
        return False

    def __mro_entries__(self, bases):
        return (Heir,)

    def __deepcopy__(self, _):
        return self._remote_link.do("deepcopy", self, open=self._remote_open)

    def __reduce_ex__(self, protocol):
        raise TypeError("a value of the program cannot be pickled")


def guarded_field(name, value):
    # A function of the program's that poses as a method of plain data.
    if type(value) is Remote and name in ASKING:
        object.__setattr__(value, "_remote_asks", "`.%s(…)` of the program's own" % name)
    return value


Reader.field = staticmethod(guarded_field)


class Deriving(type):
    # A test's class below one of the program's is made where the program's class lives; its functions stay here.

    def __new__(meta, name, bases, namespace):
        if "__orig_bases__" not in namespace:
            return super().__new__(meta, name, bases, namespace)
        cell = namespace.pop("__classcell__", None)
        bases = namespace.pop("__orig_bases__")
        link = next(base for base in bases if type(base) is Remote)._remote_link
        kept = {key: value for key, value in namespace.items() if key not in ("__module__", "__qualname__")}
        made = link.do("derive", name, list(kept), list(kept.values()), *bases)
        if type(made) is not Remote:
            raise TypeError("the program's class gave %s instead of a class" % type(made).__name__)
        object.__setattr__(made, "_remote_builds", True)
        if cell is not None:
            cell.cell_contents = made
        return made

    def __init__(self, *_):
        pass


class Heir(metaclass=Deriving):
    pass


class Above:
    # What `super()` finds in the program's class, `__init__` included.

    def __init__(self, remote):
        object.__setattr__(self, "remote", remote)

    def __getattribute__(self, name):
        remote = object.__getattribute__(self, "remote")
        return remote._remote_link.do("getattr", remote, name)


def super_of(*args):
    # `super()` in a class that a test derives from one of the program's.
    if not args:
        frame = sys._getframe(1)
        args = frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]]
    if type(args[0]) is not Remote:
        return super(*args)
    return Above(args[0]._remote_link.do("super", *args, open=True))


def refuse(remote, what):
    remote._remote_link.take()
    raise TypeError(what + " was given plain data: a value of the program's own is only read, unless the test built it by "
                    "calling a class or a name in `builders`")


def truth(value):
    return as_kind(value, bool)


def as_kind(value, kind):
    if type(value) is not kind:
        raise TypeError("the program answered with %s instead of %s" % (type(value).__name__, kind.__name__))
    return value


def unary(verb, kind=None):
    def ask(self, *args):
        value = self._remote_link.do(verb, self, *args, open=self._remote_open)
        return value if kind is None else as_kind(value, kind)
    return ask


def binary(verb, ordering=False):
    def ask(self, other):
        if type(other) is not Remote and (ordering or not self._remote_open):
            refuse(self, "`%s` with a value of class %s" % (verb, self._remote_kind))
        return self._remote_link.do(verb, self, other, open=self._remote_open)
    return ask


def reflected(verb):
    def ask(self, other):
        if type(other) is not Remote and not self._remote_open:
            refuse(self, "`%s` with a value of class %s" % (verb, self._remote_kind))
        return self._remote_link.do(verb, other, self, open=self._remote_open)
    return ask


def furnish():
    for verb in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
        setattr(Remote, "__%s__" % verb, binary(verb))
        setattr(Remote, "__r%s__" % verb, reflected(verb))
        setattr(Remote, "__i%s__" % verb, binary("i" + verb))
    Remote.__divmod__ = binary("divmod")
    for verb in "lt le gt ge".split():
        setattr(Remote, "__%s__" % verb, binary(verb, ordering=True))
    for verb in "neg pos invert abs round getitem setitem delitem reversed copy enter".split():
        setattr(Remote, "__%s__" % verb, unary(verb))
    for verb, kind in {"len": int, "int": int, "index": int, "float": float, "complex": complex, "bytes": bytes,
                       "repr": str, "str": str, "dir": list}.items():
        setattr(Remote, "__%s__" % verb, unary(verb, kind))


furnish()
