# Values as plain data: what both sides of a trial share.
#
# A plain value is JSON's own or an array whose first entry names the kind; mutable containers are numbered as they come, so
# that shared and circular ones stay so. Reading builds exact builtin types and nothing else, whoever wrote the message: no
# class, method or code of the other side ever crosses.

MAX_DEPTH = 80
EDGE = 1 << 4000  # longer integers go as hexadecimal text, which has no limit of digits
SIMPLE = frozenset((type(None), bool, int, float, str))
TYPES = {kind.__name__: kind for kind in (
    object, bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice)}
TYPES["NoneType"] = type(None)
TYPE_NAMES = {kind: name for name, kind in TYPES.items()}


class Unfit(Exception):
    # A value or message that cannot cross: too deep, too long, not understood.
    pass


class TooBig(Unfit):
    pass


class Packer:
    # `other` gives the array for whatever is no plain data; `seen` are the numbered containers by identity.

    def __init__(self, other, seen=None):
        self.other = other
        self.seen = {} if seen is None else seen

    def pack(self, value, depth=0):
        kind = type(value)
        if kind in SIMPLE:
            if kind is int and not -EDGE < value < EDGE:
                return ["i", hex(value)]
            return value
        if depth > MAX_DEPTH:
            raise TooBig("a value nests deeper than %d levels" % MAX_DEPTH)
        pack = PACKERS.get(kind)
        return pack(self, value, depth + 1) if pack else self.unusual(value, kind, depth + 1)

    def items(self, start, values, depth):
        values = list(values)
        kinds = set(map(type, values))
        if kinds <= SIMPLE and (int not in kinds or kinds == {int} and -EDGE < min(values) <= max(values) < EDGE):
            return start + values
        return start + [self.pack(value, depth) for value in values]

    def shared(self, value):
        # The number of a container that was met before; a new one is numbered, and None returned.
        number = self.seen.get(id(value))
        if number is not None:
            return ["=", number[0]]
        self.seen[id(value)] = (len(self.seen), value)
        return None

    def container(self, value, depth):
        return self.shared(value) or self.contents(value, depth)

    def contents(self, value, depth):
        kind = type(value)
        if kind is list:
            return self.items(["l"], value, depth)
        if kind is set:
            return self.items(["s"], value, depth)
        if kind is bytearray:
            return ["B", bytes(value).hex()]
        if kind.__name__ == "deque":
            return self.items(["q", value.maxlen], value, depth)
        tag = "d" if kind is dict else kind.__name__
        return [tag, self.items(["t"], value.keys(), depth), self.items(["t"], value.values(), depth)]

    def tuple(self, value, depth):
        return self.items(["t"], value, depth)

    def unusual(self, value, kind, depth):
        if kind is type:
            return ["T", TYPE_NAMES[value]] if value in TYPE_NAMES else self.other(value)
        if kind in VIEWS:
            return self.items([VIEWS[kind]], value, depth)
        home = kind.__module__
        if home == "collections" and kind.__name__ in ("Counter", "OrderedDict", "defaultdict", "deque"):
            return self.container(value, depth)
        if home in ("decimal", "fractions", "datetime", "pathlib", "uuid") and kind.__name__ in EXACT:
            return EXACT[kind.__name__](value)
        for base, plain in BASES:
            if isinstance(value, base):
                fields = getattr(kind, "_fields", None)
                if base is tuple and fields is not None:
                    return self.items(["n", kind.__name__, ["t", *fields]], value, depth)
                return self.pack(plain(value), depth)
        return self.other(value)


VIEWS = {type({}.keys()): "keys", type({}.items()): "entries"}
PACKERS = {
    list: Packer.container,
    dict: Packer.container,
    set: Packer.container,
    bytearray: Packer.container,
    tuple: Packer.tuple,
    frozenset: lambda self, value, depth: self.items(["z"], value, depth),
    bytes: lambda self, value, depth: ["b", value.hex()],
    complex: lambda self, value, depth: ["c", value.real, value.imag],
    range: lambda self, value, depth: ["r"] + [self.pack(part) for part in (value.start, value.stop, value.step)],
    slice: lambda self, value, depth: self.items(["S"], (value.start, value.stop, value.step), depth),
    type(...): lambda self, value, depth: ["..."],
}
# What a value of a derived class is underneath.
BASES = (
    (int, int.__pos__), (float, float.__pos__), (complex, complex.__pos__), (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))), (bytearray, lambda value: bytearray(bytes(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))), (list, lambda value: list(list.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))), (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)
EXACT = {
    "Decimal": lambda value: ["D", str(value)],
    "Fraction": lambda value: ["F", hex(value.numerator), hex(value.denominator)],
    "date": lambda value: ["date", value.isoformat()],
    "datetime": lambda value: ["datetime", value.isoformat()],
    "time": lambda value: ["time", value.isoformat()],
    "timedelta": lambda value: ["timedelta", value.days, value.seconds, value.microseconds],
    "UUID": lambda value: ["UUID", str(value)],
}
PATHS = ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")
EXACT.update({name: lambda value, name=name: [name, str(value)] for name in PATHS})


class Reader:
    # `special` builds what is no plain data, from its array; `kept` are the numbered containers; `field` sees what becomes
    # an attribute.

    field = staticmethod(lambda name, value: value)

    def __init__(self, special, kept=None):
        self.special = special
        self.kept = [] if kept is None else kept

    def read(self, wire, depth=0):
        if type(wire) is not list:
            return wire
        if depth > MAX_DEPTH + 2:
            raise Unfit("a value nests too deep")
        read = READERS.get(wire[0])
        return read(self, wire, depth + 1) if read else self.special(self, wire)

    def items(self, wire, start, depth):
        parts = wire[start:]
        if list not in map(type, parts):
            return parts
        return [self.read(part, depth) for part in parts]

    def keep(self, made, wire, depth):
        # A container is numbered before it is filled: it may be inside itself.
        self.kept.append(made)
        self.fill(made, wire, depth)
        return made

    def fill(self, made, wire, depth):
        kind = type(made)
        if kind is bytearray:
            made[:] = bytes.fromhex(wire[1])
        elif isinstance(made, dict):
            keys, values = self.items(wire[1], 1, depth), self.items(wire[2], 1, depth)
            for key, value in zip(keys, values, strict=True):
                made[key] = value
        elif kind is set:
            made.update(self.items(wire, 1, depth))
        else:
            made.extend(self.items(wire, 2 if wire[0] == "q" else 1, depth))


def read_collection(self, wire, depth):
    import collections

    return self.keep(getattr(collections, wire[0])(), wire, depth)


def read_deque(self, wire, depth):
    from collections import deque

    return self.keep(deque(maxlen=wire[1]), wire, depth)


def read_named_tuple(self, wire, depth):
    from collections import namedtuple

    name, fields = str(wire[1]), tuple(str(field) for field in self.items(wire[2], 1, depth))[:100]
    if (name, fields) not in NAMED:
        if len(NAMED) >= 100:
            NAMED.clear()
        NAMED[name, fields] = namedtuple(name, fields)
    return NAMED[name, fields](*map(self.field, fields, self.items(wire, 3, depth)))


def read_decimal(self, wire, depth):
    from decimal import Decimal

    return Decimal(wire[1])


def read_fraction(self, wire, depth):
    from fractions import Fraction

    return Fraction(int(wire[1], 16), int(wire[2], 16))


def read_path(self, wire, depth):
    import pathlib

    return getattr(pathlib, wire[0])(str(wire[1]))


def read_uuid(self, wire, depth):
    import uuid

    return uuid.UUID(wire[1])


def read_moment(self, wire, depth):
    import datetime

    kind = getattr(datetime, wire[0])
    return kind(*wire[1:]) if kind is datetime.timedelta else kind.fromisoformat(wire[1])


NAMED = {}  # classes of named tuples that were met: making one takes long
READERS = {
    "i": lambda self, wire, depth: int(wire[1], 16),
    "l": lambda self, wire, depth: self.keep([], wire, depth),
    "s": lambda self, wire, depth: self.keep(set(), wire, depth),
    "d": lambda self, wire, depth: self.keep({}, wire, depth),
    "B": lambda self, wire, depth: self.keep(bytearray(), wire, depth),
    "t": lambda self, wire, depth: tuple(self.items(wire, 1, depth)),
    "z": lambda self, wire, depth: frozenset(self.items(wire, 1, depth)),
    "b": lambda self, wire, depth: bytes.fromhex(wire[1]),
    "c": lambda self, wire, depth: complex(wire[1], wire[2]),
    "r": lambda self, wire, depth: range(*self.items(wire, 1, depth)),
    "S": lambda self, wire, depth: slice(*self.items(wire, 1, depth)),
    "=": lambda self, wire, depth: self.kept[wire[1]] if wire[1] >= 0 else None,
    "T": lambda self, wire, depth: TYPES[wire[1]],
    "...": lambda self, wire, depth: ...,
    "keys": lambda self, wire, depth: dict.fromkeys(self.items(wire, 1, depth)).keys(),
    "entries": lambda self, wire, depth: dict(self.items(wire, 1, depth)).items(),
    "n": read_named_tuple,
    "q": read_deque,
    "D": read_decimal,
    "F": read_fraction,
}
READERS.update(dict.fromkeys(("Counter", "OrderedDict", "defaultdict"), read_collection))
READERS.update(dict.fromkeys(PATHS, read_path), UUID=read_uuid)
READERS.update(dict.fromkeys(("date", "datetime", "time", "timedelta"), read_moment))
