"""Makes problems.jsonl: each function below in the shapes of public sets of programming problems.

    python3 make.py > problems.jsonl

A line has the problem's `id`, its `solution` and its `tests`: asserts in a list, one `check(candidate)`, a unittest file, a
pytest file, or calls with their results. Expected values are what the functions below return.
"""

import collections
import fractions
import inspect
import itertools
import json
import math
import re
import string


def add_all(numbers):
    return sum(numbers)


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def reverse_words(text):
    return " ".join(reversed(text.split()))


def count_vowels(text):
    return sum(letter in "aeiouAEIOU" for letter in text)


def flatten(nested):
    flat = []
    for one in nested:
        flat.extend(flatten(one) if isinstance(one, list) else [one])
    return flat


def word_counts(text):
    return dict(collections.Counter(text.lower().split()))


def transpose(matrix):
    return [list(row) for row in zip(*matrix)]


def running_maximum(numbers):
    return list(itertools.accumulate(numbers, max))


def second_largest(numbers):
    distinct = sorted(set(numbers))
    return distinct[-2] if len(distinct) > 1 else None


def caesar(text, shift):
    table = str.maketrans(string.ascii_lowercase, string.ascii_lowercase[shift:] + string.ascii_lowercase[:shift])
    return text.translate(table)


def run_lengths(text):
    return [(letter, len(list(group))) for letter, group in itertools.groupby(text)]


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def gcd_of_all(numbers):
    return math.gcd(*numbers)


def is_palindrome(text):
    letters = [letter.lower() for letter in text if letter.isalnum()]
    return letters == letters[::-1]


def merge_sorted(a, b):
    merged, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            merged.append(a[i])
            i += 1
        else:
            merged.append(b[j])
            j += 1
    return merged + a[i:] + b[j:]


def binary_search(numbers, target):
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low if low < len(numbers) and numbers[low] == target else -1


def to_roman(n):
    digits = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
              (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    text = ""
    for value, digit in digits:
        text += digit * (n // value)
        n %= value
    return text


def from_roman(text):
    values = dict(zip("IVXLCDM", (1, 5, 10, 50, 100, 500, 1000)))
    total = 0
    for here, after in zip(text, text[1:] + "I"):
        total += -values[here] if values[here] < values[after] else values[here]
    return total


def balanced(text):
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for letter in text:
        if letter in pairs.values():
            stack.append(letter)
        elif letter in pairs and (not stack or stack.pop() != pairs[letter]):
            return False
    return not stack


def longest_common_prefix(words):
    prefix = words[0] if words else ""
    for word in words:
        while not word.startswith(prefix):
            prefix = prefix[:-1]
    return prefix


def anagram_groups(words):
    groups = {}
    for word in words:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return sorted(groups.values())


def mean_and_spread(numbers):
    mean = sum(numbers) / len(numbers)
    return mean, math.sqrt(sum((n - mean) ** 2 for n in numbers) / len(numbers))


def power_set(items):
    return [list(chosen) for size in range(len(items) + 1) for chosen in itertools.combinations(items, size)]


def common_items(a, b):
    return set(a) & set(b)


def invert_table(table):
    return {value: key for key, value in table.items()}


def nth_root(value, n):
    return value ** (1 / n)


def digits_sum(n):
    return sum(int(digit) for digit in str(abs(n)))


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def rotate(items, k):
    k = k % len(items) if items else 0
    return items[-k:] + items[:-k] if k else list(items)


def knapsack(weights, values, room):
    best = [0] * (room + 1)
    for weight, value in zip(weights, values):
        for left in range(room, weight - 1, -1):
            best[left] = max(best[left], best[left - weight] + value)
    return best[room]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def shortest_path(edges, start, goal):
    distances, frontier = {start: 0}, collections.deque([start])
    while frontier:
        here = frontier.popleft()
        for a, b in edges:
            for there in (b,) if a == here else (a,) if b == here else ():
                if there not in distances:
                    distances[there] = distances[here] + 1
                    frontier.append(there)
    return distances.get(goal, -1)


def spiral(matrix):
    seen = []
    while matrix:
        seen += matrix[0]
        matrix = [list(row) for row in zip(*matrix[1:])][::-1]
    return seen


def pascal_row(n):
    return [math.comb(n, k) for k in range(n + 1)]


def to_base(n, base):
    digits = ""
    while True:
        n, digit = divmod(n, base)
        digits = "0123456789abcdef"[digit] + digits
        if n == 0:
            return digits


def snake_case(text):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", text).lower()


def title_case(text):
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def parse_query(text):
    return dict(part.split("=", 1) for part in text.split("&") if part)


def largest_sum(numbers):
    best = here = numbers[0]
    for n in numbers[1:]:
        here = max(n, here + n)
        best = max(best, here)
    return best


def two_sum(numbers, target):
    seen = {}
    for at, n in enumerate(numbers):
        if target - n in seen:
            return [seen[target - n], at]
        seen[n] = at
    return []


def median(numbers):
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def most_common_letter(text):
    counts = collections.Counter(letter for letter in text if letter.isalpha())
    return min(counts, key=lambda letter: (-counts[letter], letter))


def chunks(items, size):
    return [items[at:at + size] for at in range(0, len(items), size)]


def is_leap_year(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def triangle_area(a, b, c):
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


def fraction_sum(parts):
    total = sum((fractions.Fraction(*part) for part in parts), fractions.Fraction(0))
    return total.numerator, total.denominator


def sort_by_length(words):
    return sorted(words, key=lambda word: (len(word), word))


def longest_rising(numbers):
    best = [1] * len(numbers)
    for i in range(len(numbers)):
        for j in range(i):
            if numbers[j] < numbers[i]:
                best[i] = max(best[i], best[j] + 1)
    return max(best, default=0)


def coin_ways(coins, amount):
    ways = [1] + [0] * amount
    for coin in coins:
        for total in range(coin, amount + 1):
            ways[total] += ways[total - coin]
    return ways[amount]


def matrix_product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def remove_repeats(items):
    return list(dict.fromkeys(items))


def compress(text):
    short = "".join(letter + str(len(list(group))) for letter, group in itertools.groupby(text))
    return short if len(short) < len(text) else text


def prime_factors(n):
    factors, d = [], 2
    while n > 1:
        while n % d == 0:
            factors.append(d)
            n //= d
        d += 1
    return factors


def zip_longest_sum(a, b):
    return [x + y for x, y in itertools.zip_longest(a, b, fillvalue=0)]


def valid_ip(text):
    parts = text.split(".")
    return len(parts) == 4 and all(part.isdigit() and str(int(part)) == part and int(part) < 256 for part in parts)


INPUTS = {
    add_all: [([1, 2, 3],), ([-5, 5, 9],), ([10],)],
    is_prime: [(7,), (12,), (97,), (1,)],
    fibonacci: [(10,), (1,), (30,)],
    reverse_words: [("the sky is blue",), ("one",), ("  a  b ",)],
    count_vowels: [("Programming",), ("sky",), ("AEIOU and y",)],
    flatten: [([1, [2, [3, [4]]]],), ([["a"], []],), ([5],)],
    word_counts: [("a b A",), ("one two two",)],
    transpose: [([[1, 2], [3, 4]],), ([[1, 2, 3]],)],
    running_maximum: [([1, 3, 2, 5, 4],), ([2, 1],)],
    second_largest: [([4, 1, 9, 9],), ([3],), ([2, 8],)],
    caesar: [("abc", 3), ("xyz", 4), ("hello there", 13)],
    run_lengths: [("aaabb",), ("abc",)],
    divisors: [(12,), (7,), (28,)],
    gcd_of_all: [([12, 18, 24],), ([7, 13],), ([100, 75],)],
    is_palindrome: [("A man, a plan, a canal: Panama",), ("hello",), ("noon",)],
    merge_sorted: [([1, 4], [2, 3, 5]), ([], [1]), ([2, 2], [2])],
    binary_search: [([1, 3, 5, 7], 5), ([1, 3, 5, 7], 4), ([2, 9], 9)],
    to_roman: [(1994,), (4,), (3888,)],
    from_roman: [("MCMXCIV",), ("IX",), ("LVIII",)],
    balanced: [("{[()]}",), ("([)]",), ("((",)],
    longest_common_prefix: [(["flower", "flow", "flight"],), (["dog", "car"],), (["abc", "abd"],)],
    anagram_groups: [(["eat", "tea", "tan", "ate"],), (["a", "b"],)],
    mean_and_spread: [([1, 2, 3, 4],), ([2.5, 3.5],)],
    power_set: [([1, 2],), (["a", "b", "c"],)],
    common_items: [([1, 2, 3], [2, 3, 4]), (["a"], ["a", "b"])],
    invert_table: [({"a": 1, "b": 2},), ({1: "x"},)],
    nth_root: [(27, 3), (16, 4), (2, 2)],
    digits_sum: [(1234,), (-99,), (500,)],
    collatz_steps: [(6,), (27,), (19,)],
    rotate: [([1, 2, 3, 4], 1), ([1, 2, 3], 5), (["a", "b"], 0)],
    knapsack: [([1, 3, 4], [15, 20, 30], 4), ([2, 5], [3, 7], 6)],
    edit_distance: [("kitten", "sitting"), ("flaw", "lawn"), ("abc", "yabd")],
    shortest_path: [([[1, 2], [2, 3], [1, 4]], 4, 3), ([[1, 2]], 1, 9), ([["a", "b"], ["b", "c"]], "a", "c")],
    spiral: [([[1, 2, 3], [4, 5, 6], [7, 8, 9]],), ([[1, 2], [3, 4], [5, 6]],)],
    pascal_row: [(4,), (6,)],
    to_base: [(10, 2), (255, 16), (77, 8)],
    snake_case: [("camelCaseName",), ("HelloWorld",)],
    title_case: [("the quick fox",), ("a b",)],
    parse_query: [("a=1&b=2",), ("name=x=y",)],
    largest_sum: [([-2, 1, -3, 4, -1, 2, 1, -5, 4],), ([-3, -2],), ([5, 4],)],
    two_sum: [([2, 7, 11, 15], 9), ([3, 2, 4], 6)],
    median: [([3, 1, 2],), ([4, 1, 3, 2],)],
    most_common_letter: [("banana",), ("zoo keeper",)],
    chunks: [([1, 2, 3, 4, 5], 2), ([1, 2], 3)],
    is_leap_year: [(2000,), (1900,), (2024,), (2023,)],
    triangle_area: [(3, 4, 5), (5, 5, 6), (7, 8, 9)],
    fraction_sum: [([[1, 2], [1, 3]],), ([[1, 4], [3, 4], [1, 2]],)],
    sort_by_length: [(["pear", "fig", "apple", "kiwi"],), (["b", "a"],)],
    longest_rising: [([10, 9, 2, 5, 3, 7, 101, 18],), ([1, 2, 3],)],
    coin_ways: [([1, 2, 5], 5), ([2, 3], 7), ([1, 5, 10, 25], 30)],
    matrix_product: [([[1, 2], [3, 4]], [[5, 6], [7, 8]]), ([[1, 2]], [[3], [4]])],
    remove_repeats: [([1, 2, 1, 3, 2],), (["b", "a", "b"],)],
    compress: [("aabcccccaaa",), ("aaaa",)],
    prime_factors: [(84,), (97,), (1024,)],
    zip_longest_sum: [([1, 2, 3], [10]), ([], [4, 5])],
    valid_ip: [("192.168.1.1",), ("256.1.1.1",), ("1.2.3",)],
}
IMPORTS = "import collections\nimport fractions\nimport itertools\nimport math\nimport re\nimport string\n\n\n"


def is_inexact(value):
    return isinstance(value, float) or isinstance(value, tuple) and any(map(is_inexact, value))


def cases(function):
    return [(args, function(*args)) for args in INPUTS[function]]


def asserted(name, args, want):
    call = "%s(%s)" % (name, ", ".join(map(repr, args)))
    if isinstance(want, float):
        return "assert abs(%s - %r) < 1e-6" % (call, want)
    return "assert %s == %r" % (call, want)


def as_asserts(name, cases):
    return [asserted(name, *case) for case in cases]


def as_check(name, cases):
    lines = "".join("    %s\n" % asserted("candidate", *case) for case in cases)
    text = "METADATA = {}\n\n\ndef check(candidate):\n" + lines
    return [{"type": "asserts", "entry_point": name, "asserts": text}]


def as_unittest(name, cases):
    text = "import unittest\nfrom solution import %s\n\n\nclass TestCases(unittest.TestCase):\n" % name
    for at, (args, want) in enumerate(cases):
        call = "%s(%s)" % (name, ", ".join(map(repr, args)))
        method = "assertAlmostEqual" if isinstance(want, float) else "assertEqual"
        text += "    def test_%d(self):\n        self.%s(%s, %r)\n\n" % (at, method, call, want)
    return [text + "\nif __name__ == '__main__':\n    unittest.main()\n"]


def as_pytest(name, cases):
    rows = ", ".join("(%r, %r)" % case for case in cases)
    want = "pytest.approx(want)" if any(is_inexact(want) for _, want in cases) else "want"
    return ["import pytest\nfrom solution import *\n\n\n@pytest.mark.parametrize('args, want', [%s])\n"
            "def test_it(args, want):\n    assert %s(*args) == %s\n" % (rows, name, want)]


def as_calls(name, cases):
    tests = []
    for args, want in cases:
        exact = lambda value: {"$python": repr(value)}
        test = {"type": "call", "function": name, "args": [exact(one) for one in args], "result": exact(want)}
        tests.append({**test, "tolerance": 1e-6} if is_inexact(want) else test)
    return tests


SHAPES = {"asserts": as_asserts, "check": as_check, "unittest": as_unittest, "pytest": as_pytest, "calls": as_calls}

if __name__ == "__main__":
    for function in INPUTS:
        solution = IMPORTS + inspect.getsource(function)
        for shape, make in SHAPES.items():
            name = function.__name__
            line = {"id": "%s/%s" % (name, shape), "solution": solution, "tests": make(name, cases(function))}
            print(json.dumps(line))
