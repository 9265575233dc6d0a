//! Right programs as people write them pass tests as people write them.

use crate::code::*;
use serde_json::json;

#[test]
fn scripts_may_end_in_every_way_that_python_allows() {
    for (script, printed) in [
        ("print(1)\nexit()", "1"),
        ("print(1)\nquit()\nprint(2)", "1"),
        ("import sys\nprint(1)\nsys.exit()", "1"),
        ("import atexit\natexit.register(print, 2)\nprint(1)", "1\n2"),
        ("import atexit\natexit.register(print, 2)\nprint(1)\nexit(0)", "1\n2"),
        (
            "import threading, time\ndef late():\n    time.sleep(0.05)\n    print(2)\nthreading.Thread(target=late).start()\nprint(1)",
            "1\n2",
        ),
        ("import os, sys\nprint(1)\nsys.stdout.flush()\nos._exit(0)", "1"),
        (
            "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    print(await asyncio.gather(one(1), one(2)))\nasync def one(x): return x\nasyncio.run(main())",
            "[1, 2]",
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor as T\nprint(list(T(2).map(abs, [-1, 2])))",
            "[1, 2]",
        ),
        ("import builtins, sys\nbuiltins.input = lambda: sys.stdin.readline().strip()\nprint(input())", "7"),
        (
            "import sys, io\nold, sys.stdout = sys.stdout, io.StringIO()\nprint(1)\ntext = sys.stdout.getvalue()\nsys.stdout = old\nprint(text, end='')",
            "1",
        ),
        ("out = open(1, 'w', closefd=False)\nout.write('1')", "1"),
        ("import sys\nsys.stdout = open(1, 'w')\nprint(open(0).read().strip())", "7"),
        ("import os\nprint(os.path.basename(__file__))", "solution.py"),
    ] {
        passes_all(script, &[json!({"type": "stdin", "stdin": "7\n", "stdout": printed})]);
    }
}

#[test]
fn arguments_may_be_iterators_files_and_objects_of_the_test() {
    passes(
        "def double(it): return [x * 2 for x in it]\ndef head(it): return next(it), next(it)\n\
         def shout(file): return [line.strip().upper() for line in file]\ndef read(file): return file.read()\n\
         def total(node):\n    n = 0\n    while node is not None:\n        n, node = n + node.value, node.next\n    return n\n\
         def lazy(it):\n    for x in it:\n        if x > 2: return x\n",
        &[
            "assert double(x for x in [1, 2]) == [2, 4] and double(iter([3])) == [6] and double(map(int, '12')) == [2, 4]",
            "def count():\n    n = 0\n    while True:\n        yield n\n        n += 1\nassert head(count()) == (0, 1) and lazy(count()) == 3",
            "import io\nassert shout(io.StringIO('a\\nb\\n')) == ['A', 'B'] and read(io.StringIO('x')) == 'x'",
            "class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next\nassert total(Node(1, Node(2))) == 3",
            "import itertools\nassert double(itertools.islice(itertools.count(), 3)) == [0, 2, 4] and double(zip()) == []",
        ],
    );
}

#[test]
fn exceptions_keep_their_attributes_and_texts() {
    passes(
        "class Refused(Exception):\n    def __init__(self, code, why):\n        super().__init__(why)\n        self.code = code\n    \
         @property\n    def twice(self): return self.code * 2\n    def __str__(self): return f'refused ({self.code})'\n\
         def f(x): raise Refused(x, 'no')\ndef g(): return KeyError('k')",
        &[
            "try:\n    f(4)\nexcept Refused as e:\n    assert e.code == 4 and e.twice == 8 and str(e) == 'refused (4)' and e.args == ('no',)\nelse:\n    assert False",
            "import pytest\nwith pytest.raises(Refused, match=r'refused \\(5\\)') as info:\n    f(5)\nassert info.value.code == 5",
            "assert isinstance(g(), KeyError) and g().args == ('k',)",
        ],
    );
}

#[test]
fn tests_may_derive_classes_from_the_programs() {
    passes(
        "import abc\nclass Shape(abc.ABC):\n    def __init__(self, name): self.name = name\n    @abc.abstractmethod\n    \
         def area(self): ...\n    def describe(self): return f'{self.name}: {self.area()}'",
        &[
            "class Square(Shape):\n    def __init__(self, side):\n        super().__init__('square')\n        self.side = side\n    def area(self):\n        return self.side ** 2\nassert Square(3).describe() == 'square: 9'",
            "class Odd(Shape):\n    def area(self):\n        return 1\n    def describe(self):\n        return super().describe() + '!'\nassert Odd('x').describe() == 'x: 1!' and Odd('y').name == 'y'",
        ],
    );
}

#[test]
fn coroutines_generators_paths_and_changed_arguments_arrive() {
    passes(
        "import asyncio\nfrom pathlib import Path\nasync def later(x):\n    await asyncio.sleep(0.001)\n    return x + 1\n\
         async def count(n):\n    for i in range(n):\n        yield i\nclass Ctx:\n    async def __aenter__(self): return 5\n    async def __aexit__(self, *a): pass\n\
         def now(x): return asyncio.run(later(x))\ndef up(p): return Path(p).parent\ndef gen(n):\n    yield from range(n)\n\
         def order(a):\n    a.sort()\n    return a\ndef keys(d): return d.keys()",
        &[
            "import asyncio\nassert asyncio.run(later(3)) == 4 and now(4) == 5",
            "import asyncio\nasync def main():\n    async with Ctx() as c:\n        return await asyncio.gather(later(1), later(2)), [x async for x in count(3)], c\nassert asyncio.run(main()) == ([2, 3], [0, 1, 2], 5)",
            "from pathlib import Path\nassert up('a/b') == Path('a') and up(Path('a/b/c')).name == 'b'",
            "import types\nassert isinstance(gen(2), types.GeneratorType) and list(gen(3)) == [0, 1, 2]",
            "a = [3, 1]\nr = order(a)\nassert r == [1, 3] and a == [1, 3]",
            "assert keys({'a': 1}) == {'a'}",
        ],
    );
}

#[test]
fn a_list_that_the_program_holds_on_to_is_the_tests_own() {
    passes(
        "import contextlib\nclass Log:\n    def __init__(self, out): self.out = out\n    def add(self, x): self.out.append(x)\n\
         @contextlib.contextmanager\ndef noted(out):\n    out.append('in')\n    yield 5\n    out.append('out')\n\
         def same(d):\n    d['n'] = 1\n    return d\nclass Node: pass\ndef echo(x): return x",
        &[
            "out = []\nlog = Log(out)\nlog.add('x')\nassert out == ['x']\nlog.add('y')\nassert out == ['x', 'y']",
            "out = []\nwith noted(out) as v:\n    assert v == 5\n    assert out == ['in']\nassert out == ['in', 'out']",
            "d = {}\nassert same(d) is d and d == {'n': 1}",
            "n = Node()\nassert echo(n) is n and echo([n])[0] is n and echo(Node) is Node and echo(4) == 4",
        ],
    );
}

#[test]
fn what_a_test_patches_the_program_sees() {
    passes(
        "import sys, os, random\ndef ask():\n    n = int(input('n? '))\n    print('got', n)\n    return n * 2\n\
         def args(): return sys.argv[1:]\ndef env(): return os.environ.get('MERIT_X')\ndef roll(): return random.randint(1, 10 ** 9)\n\
         def helper(): return 1\ndef caller(): return helper() + 1",
        &[
            "from unittest.mock import patch\nimport io\nwith patch('builtins.input', side_effect=['4']) as i, patch('sys.stdout', new_callable=io.StringIO) as o:\n    assert ask() == 8\nassert o.getvalue() == 'got 4\\n' and i.call_count == 1",
            "import sys, io, contextlib\nsys.stdin = io.StringIO('5\\n')\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    assert ask() == 10\nassert 'got 5' in out.getvalue()",
            "def test_it(capsys, monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda prompt='': '7')\n    monkeypatch.setenv('MERIT_X', 'y')\n    assert ask() == 14 and env() == 'y'\n    assert capsys.readouterr().out == 'got 7\\n'",
            "import sys\nfrom unittest.mock import patch\nwith patch.object(sys, 'argv', ['x', '--a']):\n    assert args() == ['--a']",
            "import random\nrandom.seed(3)\na = roll()\nrandom.seed(3)\nassert a == roll() == random.Random(3).randint(1, 10 ** 9)",
            "from unittest.mock import patch\nwith patch('solution.helper', return_value=41):\n    assert caller() == 42\nassert caller() == 2",
        ],
    );
}

#[test]
fn files_for_pytest_and_unittest_run_as_they_are() {
    passes(
        "def add(a, b): return a + b\nclass Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n    \
         def pop(self):\n        if not self.items: raise IndexError('empty stack')\n        return self.items.pop()",
        &[
            "import pytest\nfrom solution import add, Stack\n@pytest.fixture\ndef stack():\n    s = Stack()\n    s.push(1)\n    yield s\n\
             @pytest.mark.parametrize('a,b,want', [(1, 2, 3), pytest.param(2, 2, 4, id='twos')])\ndef test_add(a, b, want):\n    assert add(a, b) == want\n\
             def test_float():\n    assert add(0.1, 0.2) == pytest.approx(0.3)\n\
             class TestStack:\n    def setup_method(self):\n        self.n = 1\n    def test_pop(self, stack):\n        assert stack.pop() == self.n\n        with pytest.raises(IndexError, match='empty'):\n            stack.pop()",
            "import unittest\nfrom solution import *\nclass TestAll(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.one = 1\n    def setUp(self):\n        self.stack = Stack()\n    def test_push(self):\n        self.stack.push(self.one)\n        self.assertEqual(self.stack.items, [1])\n    def test_many(self):\n        for i in range(3):\n            with self.subTest(i=i):\n                self.assertEqual(add(i, 1), i + 1)\n    @unittest.skip('not now')\n    def test_skipped(self):\n        self.fail()\nif __name__ == '__main__':\n    unittest.main()",
            "def check(candidate):\n    assert candidate(2, 3) == 5\ncheck(add)",
        ],
    );
    let wrong = "def add(a, b): return a - b\nclass Stack: pass";
    fails(
        wrong,
        &[
            "import pytest\n@pytest.mark.parametrize('a', [0, 1])\ndef test_add(a):\n    assert add(a, a) == 2 * a",
        ],
    );
}
