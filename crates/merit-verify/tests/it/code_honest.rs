//! Honest programs of many styles pass their tests.

use crate::code::*;
use merit_verify::code::TestOutcome;
use serde_json::json;

#[test]
fn functions_are_called_with_plain_data_of_every_kind() {
    let echo = "def f(*args, **kwargs):\n    return args[0] if not kwargs else sorted(kwargs.items())";
    let values = [
        "None",
        "True",
        "0",
        "-7",
        "10**3000",
        "-(3**9000)",
        "2.5",
        "-0.0",
        "float('inf')",
        "1e-300",
        "1+2j",
        "'é\\ud800\\0'",
        "b'\\x00a'",
        "bytearray(b'x')",
        "[1, [2.0, 'x']]",
        "(1, (2,))",
        "{1: [2], (1, 2): {'a'}}",
        "{1, 'a'}",
        "frozenset({3})",
        "range(3, 10, 2)",
        "slice(1, None)",
        "int",
        "...",
        "[[]] * 3",
    ];
    let asserts: Vec<String> = values
        .iter()
        .map(|value| {
            format!("v = {value}\nr = f(v)\nassert r == v and type(r) is type(v) and repr(r) == repr(v)")
        })
        .chain([
            "assert f(float('nan')) != f(float('nan'))".to_owned(),
            "assert f(a=1, b=[2]) == [('a', 1), ('b', [2])]".to_owned(),
        ])
        .collect();
    passes(echo, &asserts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn exact_numbers_dates_and_collections_cross_as_what_they_are() {
    passes(
        "def f(x):\n    return x",
        &[
            "from decimal import Decimal\nassert f(Decimal('1.10')).as_tuple() == Decimal('1.10').as_tuple()",
            "from fractions import Fraction\nassert f(Fraction(-1, 3)) == Fraction(-1, 3)",
            "import datetime as d\nx = d.datetime(2024, 2, 29, 1, 2, 3, 4, d.timezone.utc)\nassert f(x) == x",
            "import datetime as d\nassert f(d.date(2024, 1, 2)) == d.date(2024, 1, 2)",
            "import datetime as d\nassert f(d.timedelta(-1, 2, 3)) == d.timedelta(-1, 2, 3)",
            "from collections import *\nx = Counter('aab')\nassert f(x).most_common(1) == [('a', 2)]",
            "from collections import *\nx = deque([1, 2], 3)\nassert f(x) == x and f(x).maxlen == 3",
            "from collections import *\nassert list(f(OrderedDict(b=1, a=2))) == ['b', 'a']",
            "a = []\na.append(a)\nr = f(a)\nassert r[0] is r",
            "a = [1]\nr = f([a, a])\nassert r[0] is r[1]",
        ],
    );
    passes(
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f():\n    return P(1, [2])",
        &["assert f() == (1, [2]) and f().y == [2]"],
    );
}

#[test]
fn values_of_derived_classes_arrive_as_what_they_are_underneath() {
    passes(
        "import enum\nclass S(str): pass\nclass L(list): pass\nclass C(enum.IntEnum):\n    RED = 1\n\
         def f():\n    return [S('a'), L([1]), C.RED, True]",
        &[
            "r = f()\nassert r == ['a', [1], 1, True] and [type(x) for x in r] == [str, list, int, bool]",
            "assert f()[2] == C.RED",
        ],
    );
}

#[test]
fn classes_are_built_used_and_compared() {
    let program = "
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[-1]

class Vec:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, other): return (self.x, self.y) == (other.x, other.y)
    def __hash__(self): return hash((self.x, self.y))
    def __mul__(self, k): return Vec(self.x * k, self.y * k)
    def __rmul__(self, k): return self * k
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __iadd__(self, o): self.x += o.x; return self
    def __neg__(self): return Vec(-self.x, -self.y)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    def __repr__(self): return f'Vec({self.x}, {self.y})'
    def __iter__(self): yield self.x; yield self.y
    def __len__(self): return 2
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __contains__(self, v): return v in (self.x, self.y)
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): self.x = 0; return kind is ValueError
    def __lt__(self, o): return abs(self) < abs(o)
    @classmethod
    def unit(cls): return cls(1, 0)
    @staticmethod
    def dims(): return 2

class Bag:
    def __init__(self): self.items = {}
    def add(self, name): self.items[name] = self.items.get(name, 0) + 1
    def count(self, name): return self.items.get(name, 0)
";
    passes(
        program,
        &[
            "s = Stack(); s.push(4); s.push(5)\nassert s.peek() == 5 and len(s) == 2 and list(s) == [4, 5]",
            "assert Vec(1, 2) * 2 == 2 * Vec(1, 2) == Vec(2, 4) and Vec(1, 2) != Vec(2, 1)",
            "assert Vec(1, 2) + Vec(1, 1) == Vec(2, 3) and -Vec(1, 2) == Vec(-1, -2) and abs(Vec(3, 4)) == 5.0",
            "v = Vec(1, 2)\nv += Vec(1, 0)\nassert v.x == 2\nv.y = 9\nassert tuple(v) == (2, 9) and v[1] == 9 and len(v) == 2",
            "assert repr(Vec(1, 2)) == 'Vec(1, 2)' and f'{Vec(1, 2)}' == 'Vec(1, 2)'",
            "assert 2 in Vec(1, 2) and 3 not in Vec(1, 2)",
            "assert len({Vec(1, 2), Vec(1, 2)}) == 1 and isinstance(Vec(1, 2), Vec) and not isinstance(3, Vec)",
            "with Vec(1, 2) as v:\n    raise ValueError('x')\nassert v.x == 0",
            "assert Vec.unit().x == 1 and Vec.dims() == 2 and [v.x for v in sorted([Vec(2, 0), Vec(1, 0)])] == [1, 2]",
            "import copy\nv = Vec(1, 2)\nw = copy.deepcopy(v)\nw.x = 5\nassert v.x == 1",
            "b = Bag(); b.add('a'); b.add('a')\nassert b.count('a') == 2 and b.items == {'a': 2}",
        ],
    );
}

#[test]
fn generators_stay_lazy_and_closures_can_be_called() {
    passes(
        "def naturals():\n    n = 0\n    while True:\n        yield n\n        n += 1\n\
         def gen(n):\n    for i in range(n):\n        yield i * i\n    return\n\
         def adder(k):\n    return lambda x: x + k",
        &[
            "import itertools\nassert list(itertools.islice(naturals(), 3)) == [0, 1, 2]",
            "assert list(gen(4)) == [0, 1, 4, 9] and next(gen(1)) == 0 and 4 in gen(4)",
            "g = gen(1)\nnext(g)\ntry:\n    next(g)\nexcept StopIteration:\n    pass\nelse:\n    assert False",
            "assert adder(3)(4) == 7 and list(map(adder(1), [1, 2])) == [2, 3]",
        ],
    );
}

#[test]
fn in_place_work_is_seen_by_the_test() {
    passes(
        "def order(a):\n    a.sort()\ndef swap(a):\n    a[0], a[1] = a[1], a[0]\ndef note(d, s, b):\n    d['k'] = s\n    s.add(1)\n    b[0] = 65",
        &[
            "a = [3, 1, 2]\nassert order(a) is None\nassert a == [1, 2, 3]",
            "a = [[1], [2]]\nx, y = a\nswap(a)\nassert a == [[2], [1]] and a[0] is y",
            "d, s, b = {}, set(), bytearray(b'z')\nnote(d, s, b)\nassert d == {'k': {1}} and d['k'] is s and b == b'A'",
        ],
    );
    let compact = "def dedupe(a):\n    k = len(set(a))\n    a[:] = sorted(set(a))\n    return k";
    let test = |write_back: &str| json!({"type": "asserts", "asserts": "a = [2, 1, 2]\nk = dedupe(a)\nassert a[:k] == [1, 2]", "write_back": write_back});
    passes_all(compact, &[test("always")]);
    assert!(matches!(outcome(compact, test("none-returned")), TestOutcome::Failed { .. }));
}

#[test]
fn functions_of_the_test_are_called_where_they_live() {
    passes(
        "def apply(g, xs):\n    return [g(x) for x in xs]\ndef twice(g):\n    return lambda x: g(g(x))\n\
         def guard(g):\n    try:\n        return g()\n    except ZeroDivisionError:\n        return 'caught'\n\
         def by(xs, key):\n    return sorted(xs, key=key)",
        &[
            "seen = []\nassert apply(lambda x: seen.append(x) or x + 1, [1, 2]) == [2, 3] and seen == [1, 2]",
            "assert apply(str.upper, ['a']) == ['A'] and apply(len, ['ab']) == [2] and apply(str, [1]) == ['1']",
            "assert twice(lambda x: x * 3)(2) == 18",
            "assert apply(twice(lambda x: x + 1), [1]) == [3]",
            "assert guard(lambda: 1 // 0) == 'caught'",
            "class Own(Exception): pass\ndef raise_own(x): raise Own('x')\ntry:\n    apply(raise_own, [1])\nexcept Own:\n    pass\nelse:\n    assert False",
            "assert by(['bb', 'a'], key=len) == ['a', 'bb']",
        ],
    );
}

#[test]
fn exceptions_arrive_as_their_builtin_class_or_under_it() {
    passes(
        "class Bad(ValueError): pass\nclass Worse(Bad): pass\n\
         def f(x):\n    if x < 0: raise ValueError('negative', x)\n    if x == 0: raise Worse('zero')\n    assert x < 9\n    return {}[x]",
        &[
            "try:\n    f(-1)\nexcept ValueError as e:\n    assert e.args == ('negative', -1)\nelse:\n    assert False",
            "try:\n    f(0)\nexcept Bad as e:\n    assert str(e) == 'zero'\nelse:\n    assert False",
            "try:\n    f(0)\nexcept ValueError:\n    pass\nelse:\n    assert False",
            "try:\n    f(3)\nexcept KeyError as e:\n    assert e.args == (3,)\nelse:\n    assert False",
            "try:\n    f(9)\nexcept AssertionError:\n    pass\nelse:\n    assert False",
            "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        with self.assertRaisesRegex(ValueError, 'neg'):\n            f(-1)",
            "assert issubclass(Worse, Bad) and issubclass(Bad, ValueError)",
        ],
    );
    let raised = outcome("def f():\n    return 1 // 0", json!("assert f() == 1"));
    assert!(
        matches!(&raised, TestOutcome::Exception { what } if what.contains("ZeroDivisionError")),
        "{raised:?}"
    );
}

#[test]
fn deep_recursion_dataclasses_and_imports_work_as_anywhere() {
    passes(
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\nimport functools, sys\nsys.setrecursionlimit(10000)\n\
         @dataclass(order=True)\nclass P:\n    x: int\n    tags: list = field(default_factory=list)\n\
         @functools.cache\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\
         def make(x):\n    return P(x)\nprint('loading')",
        &[
            "assert fib(1500) % 1000 == 0",
            "assert P(1) == make(1) and make(2).x == 2 and P(1) < P(2)",
            "assert repr(make(3)) == 'P(x=3, tags=[])'",
        ],
    );
}

#[test]
fn a_linked_list_is_built_given_and_read() {
    passes(
        "class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val, self.next = val, next\n\
         def reverse(head):\n    last = None\n    while head:\n        head.next, head, last = last, head.next, head\n    return last",
        &[
            "def chain(xs):\n    head = None\n    for x in reversed(xs):\n        head = ListNode(x, head)\n    return head\n\
           node, got = reverse(chain([1, 2, 3])), []\nwhile node:\n    got.append(node.val)\n    node = node.next\nassert got == [3, 2, 1]",
        ],
    );
}
