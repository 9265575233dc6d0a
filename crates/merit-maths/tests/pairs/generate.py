"""Writes pairs.tsv: answers that are equal and answers that nearly are, each told apart by SymPy.

    python generate.py > pairs.tsv        (SymPy 1.14; the same seed gives the same file)

A line is: kind, 1 for equal or 0 for different, reference, response, separated by tabs.
"""

import random
import sympy as sp
from sympy import I, Integer, Rational, pi, sqrt

random.seed(20)
x, y, a, n = sp.symbols("x y a n")
rows, seen = [], set()


def latex(expr):
    return sp.latex(expr, ln_notation=True)


def emit(kind, equal, gold, response):
    line = (kind, int(equal), gold.strip(), response.strip())
    if line not in seen and "\t" not in gold + response and "\n" not in gold + response:
        seen.add(line)
        rows.append(line)


def differ(p, q):
    """Whether SymPy is sure that two expressions differ."""
    d = sp.N((p - q).subs({s: Rational(random.randint(3, 40), 7) for s in (p - q).free_symbols}), 30)
    return abs(d) > 1e-9


def same(p, q):
    return sp.simplify(p - q) == 0


def boxed(text):
    return random.choice([f"\\boxed{{{text}}}", f"The answer is ${text}$.", f"${text}$", f"So we get \\boxed{{{text}}}."])


def pair(kind, p, q, near=None):
    """Two spellings of one thing, and a near miss of the second."""
    if not same(p, q):
        raise SystemExit(f"{kind}: {p} is not {q}")
    emit(kind, True, latex(p), boxed(latex(q)))
    if near is not None and differ(p, near):
        emit(kind, False, latex(p), boxed(latex(near)))


def small(low=-9, high=9):
    return random.choice([k for k in range(low, high + 1) if k])


def polynomials():
    for _ in range(70):
        f = sp.Mul(*[(small(1, 4) * x + small()) for _ in range(random.randint(2, 3))])
        g = sp.expand(f)
        near = g + small() * x ** random.randint(0, 2)
        pair("polynomial", *random.sample([f, g], 2), near)
    for _ in range(30):
        f = (small(1, 5) * x + small(1, 5) * y) * (small(1, 5) * x - small(1, 5) * y)
        pair("polynomial", sp.expand(f), f, sp.expand(f) + x * y)


def fractions():
    for _ in range(50):
        f = small() / (x + small()) + small() / (x + small(10, 19))
        pair("rational-function", *random.sample([f, sp.together(f)], 2), sp.together(f) + Rational(1, small(2, 9)))
    for _ in range(60):
        r = Rational(small(-60, 60), random.choice([2, 4, 5, 8, 10, 16, 20, 25, 40]))
        decimal = f"{float(r):.10f}".rstrip("0").rstrip(".")
        emit("number", True, latex(r), boxed(decimal))
        emit("number", True, decimal, boxed(latex(r)))
        emit("number", False, latex(r), boxed(decimal + "1" if "." in decimal else decimal + ".1"))
    for _ in range(25):
        whole, top, bottom = random.randint(1, 9), random.randint(1, 6), random.randint(7, 12)
        r = whole + Rational(top, bottom)
        emit("mixed-number", True, latex(r), boxed(f"{whole}\\frac{{{top}}}{{{bottom}}}"))
        emit("mixed-number", False, latex(r), boxed(f"{whole + 1}\\frac{{{top}}}{{{bottom}}}"))
    for _ in range(25):
        k, places = random.randint(100, 999999), random.randint(3, 9)
        emit("thousands", True, f"{k * 10 ** places}", boxed(f"{k * 10 ** places:,}"))
        emit("scientific", True, f"{k * 10 ** places}", boxed(f"{k / 10 ** (len(str(k)) - 1)} \\times 10^{{{places + len(str(k)) - 1}}}"))
        emit("scientific", False, f"{k * 10 ** places}", boxed(f"{k / 10 ** (len(str(k)) - 1)} \\times 10^{{{places + len(str(k))}}}"))
    for _ in range(20):
        k = random.randint(1, 199)
        emit("percent", True, f"{k}\\%", boxed(latex(Rational(k, 100))))
        emit("percent", True, latex(Rational(k, 100)), boxed(f"{k}\\%"))
        emit("percent", False, latex(Rational(k, 100)), boxed(f"{k}"))


def radicals():
    for _ in range(60):
        k, m = random.randint(2, 12), random.choice([2, 3, 5, 6, 7, 10, 11, 13, 14, 15])
        written = f"\\sqrt{{{k * k * m}}}"
        emit("radical", True, latex(k * sqrt(m)), boxed(written))
        emit("radical", False, latex(k * sqrt(m)), boxed(f"\\sqrt{{{k * k * m + 1}}}"))
    for _ in range(30):
        k, m = random.randint(1, 9), random.choice([2, 3, 5, 7])
        f = Integer(k) / (sqrt(m) + 1)
        pair("radical", sp.radsimp(f), f, sp.radsimp(f) + Rational(1, 7))


def functions():
    angles = [pi / 6, pi / 4, pi / 3, pi / 12, 5 * pi / 12, 2 * pi / 3, 3 * pi / 4, 7 * pi / 6]
    for angle in angles:
        for f in (sp.sin, sp.cos, sp.tan):
            value = sp.sqrtdenest(sp.radsimp(f(angle)))
            emit("trigonometry", True, f"\\{f.__name__} {latex(angle)}", boxed(latex(value)))
            emit("trigonometry", False, f"\\{f.__name__} {latex(angle)}", boxed(latex(-value)))
    identities = [
        (sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x)), (sp.cos(2 * x), 1 - 2 * sp.sin(x) ** 2),
        (sp.cos(2 * x), 2 * sp.cos(x) ** 2 - 1), (sp.tan(x) ** 2, 1 / sp.cos(x) ** 2 - 1),
        (sp.sin(3 * x), 3 * sp.sin(x) - 4 * sp.sin(x) ** 3), (sp.sin(x + y), sp.expand_trig(sp.sin(x + y))),
        (sp.cosh(x) ** 2, 1 + sp.sinh(x) ** 2), (sp.exp(2 * x) - 1, (sp.exp(x) - 1) * (sp.exp(x) + 1)),
    ]
    for p, q in identities:
        for k in range(1, 4):
            pair("identity", k * p, k * q, k * q + sp.cos(x) / 3)
    for _ in range(25):
        k, m = random.randint(2, 9), random.randint(2, 9)
        emit("logarithm", True, f"\\ln {k * m}", boxed(f"\\ln {k} + \\ln {m}"))
        emit("logarithm", False, f"\\ln {k * m}", boxed(f"\\ln {k} \\cdot \\ln {m + 1}"))
        emit("logarithm", True, f"\\log_{{{k}}} {k ** m}", boxed(str(m)))
        emit("logarithm", False, f"\\log_{{{k}}} {k ** m}", boxed(str(m + 1)))
        emit("power", True, f"{k}^{{n+{m}}}", boxed(f"{k ** m} \\cdot {k}^n"))
        emit("power", False, f"{k}^{{n+{m}}}", boxed(f"{k ** (m - 1)} \\cdot {k}^n"))


def complex_numbers():
    for _ in range(30):
        z, w = small() + small() * I, small() + small() * I
        product = sp.expand(z * w)
        if product.is_real:
            continue
        emit("complex", True, latex(product), boxed(f"{sp.im(product)}i + {sp.re(product)}" if sp.re(product) > 0 else latex(product)))
        emit("complex", False, latex(product), boxed(latex(sp.conjugate(product))))
        quotient = sp.nsimplify(sp.expand_complex(z / w))
        if not quotient.is_real:
            emit("complex", True, latex(quotient), boxed(latex(sp.together(quotient))))


def solutions():
    for _ in range(40):
        p, q = sorted(random.sample(range(-12, 13), 2))
        emit("set", True, f"\\{{{p}, {q}\\}}", boxed(f"\\{{{q}, {p}\\}}"))
        emit("set", True, f"\\{{{p}, {q}\\}}", boxed(f"x = {q} \\text{{ or }} x = {p}"))
        emit("set", False, f"\\{{{p}, {q}\\}}", boxed(f"\\{{{p}, {q + 1}\\}}"))
        emit("set", False, f"\\{{{p}, {q}\\}}", boxed(f"{p}"))
        emit("interval", True, f"({p}, {q}]", boxed(f"{p} < x \\le {q}"))
        emit("interval", False, f"({p}, {q}]", boxed(f"{p} \\le x \\le {q}"))
        emit("interval", True, f"x < {p} \\text{{ or }} x > {q}", boxed(f"(-\\infty, {p}) \\cup ({q}, \\infty)"))
        emit("interval", False, f"x < {p} \\text{{ or }} x > {q}", boxed(f"(-\\infty, {p}] \\cup ({q}, \\infty)"))
        emit("tuple", True, f"({p}, {q})", boxed(f"\\left( {p}.0 , {q} \\right)"))
        emit("tuple", False, f"({p}, {q})", boxed(f"({q}, {p})"))
    for _ in range(25):
        b, c = small(), small(1, 9)
        plus, minus = sp.solve(x**2 + 2 * b * x + b * b - c, x)
        gold = f"x = {latex(-Integer(b))} \\pm {latex(sqrt(c))}"
        emit("plus-minus", True, gold, boxed(f"{latex(plus)}, {latex(minus)}"))
        emit("plus-minus", False, gold, boxed(f"{latex(plus)}, {latex(minus + 1)}"))


def equations():
    for _ in range(50):
        p, q, r, k = small(), small(), small(), random.choice([-3, -2, 2, 3, 4])
        left = p * x + q * y
        emit("equation", True, f"{latex(left)} = {r}", boxed(f"{latex(sp.expand(k * left))} = {k * r}"))
        emit("equation", True, f"{latex(left)} = {r}", boxed(f"{latex(sp.expand(left - r))} = 0"))
        emit("equation", False, f"{latex(left)} = {r}", boxed(f"{latex(sp.expand(k * left))} = {k * r + 1}"))
        emit("solved", True, f"x = {Rational(r, p)}", boxed(latex(Rational(r, p))))
        emit("solved", False, f"x = {Rational(r, p)}", boxed(latex(Rational(r, p) + 1)))


def matrices():
    for _ in range(25):
        m = sp.Matrix(2, 2, lambda *_: Rational(small(), random.choice([1, 1, 2, 3])))
        other = m.copy()
        other[random.randint(0, 1), random.randint(0, 1)] += 1
        wide = latex(m).replace("matrix", "pmatrix").replace("\\left[", "").replace("\\right]", "")
        emit("matrix", True, latex(m), boxed(wide))
        emit("matrix", False, latex(m), boxed(latex(other)))
        if all(e.is_integer for e in m):
            emit("matrix", True, latex(m), "The answer is " + wide)


def calculus():
    bodies = [x**2, x**3 - x, sp.sin(x), sp.exp(x), x * sp.exp(x), 1 / (1 + x**2), sp.cos(2 * x), sqrt(x), x * sp.sin(x), 1 / (x + 1)]
    for body in bodies:
        for low, high in [(0, 1), (0, 2), (1, 3)]:
            value = sp.simplify(sp.integrate(body, (x, low, high)))
            gold = f"\\int_{{{low}}}^{{{high}}} {latex(body)} \\, dx"
            emit("integral", True, gold, boxed(latex(value)))
            emit("integral", False, gold, boxed(latex(value + Rational(1, 100))))
        for k in (1, 3):
            d = sp.diff(k * body, x)
            gold = f"\\frac{{d}}{{dx}}\\left({latex(k * body)}\\right)"
            emit("derivative", True, gold, boxed(latex(sp.together(d))))
            emit("derivative", False, gold, boxed(latex(d + x)))
    for body, point in [(sp.sin(3 * x) / x, 0), ((sp.exp(x) - 1) / x, 0), ((x**2 - 4) / (x - 2), 2), ((1 - sp.cos(x)) / x**2, 0), (sp.tan(x) / x, 0), ((sqrt(1 + x) - 1) / x, 0), ((2 * x**2 + 1) / (x**2 - 5), sp.oo), ((1 + 2 / x) ** x, sp.oo), (sp.log(1 + x) / x, 0)]:
        value = sp.limit(body, x, point)
        gold = f"\\lim_{{x \\to {latex(point)}}} {latex(body)}"
        emit("limit", True, gold, boxed(latex(value)))
        emit("limit", False, gold, boxed(latex(value + 1)))
    for body, top in [(n, 20), (n**2, 12), (2**n, 8), (1 / (n * (n + 1)), 9), (2 * n - 1, 15)]:
        value = sp.summation(body, (n, 1, top))
        gold = f"\\sum_{{n=1}}^{{{top}}} \\left({latex(body)}\\right)"
        emit("sum", True, gold, boxed(latex(value)))
        emit("sum", False, gold, boxed(latex(value - 1)))


def notation():
    digits = "0123456789ABCDEF"
    for _ in range(30):
        k, base = random.randint(17, 900), random.choice([2, 3, 5, 8, 16])
        text, rest = "", k
        while rest:
            text, rest = digits[rest % base] + text, rest // base
        emit("base", True, f"{text}_{{{base}}}", boxed(f"{text}_{{{base}}}"))
        emit("base", True, f"{text}_{{{base}}}", boxed(f"\\text{{{text}}}") if not text.isdigit() else boxed(text))
        emit("base", False, f"{text}_{{{base}}}", boxed(f"{k + 1}_{{10}}"))
    for low, high, factor in [("m", "km", 1000), ("cm", "m", 100), ("g", "kg", 1000), ("minutes", "hours", 60), ("seconds", "minutes", 60), ("mm", "cm", 10), ("cents", "dollars", 100), ("inches", "feet", 12)]:
        for k in random.sample(range(2, 40), 4):
            emit("unit", True, f"{k} {high}", f"The answer is {k * factor} {low}.")
            emit("unit", True, f"{k} {high}", boxed(f"{k * factor}\\text{{ {low}}}"))
            emit("unit", False, f"{k} {high}", f"The answer is {k} {low}.")
            emit("unit", False, f"{k} {high}", boxed(f"{k}\\text{{ {low}}}"))
            emit("unit", True, f"{k} {high}", boxed(str(k)))
    for word, by in [("hundred", 100), ("thousand", 10**3), ("million", 10**6), ("billion", 10**9), ("dozen", 12)]:
        for k in random.sample(range(2, 40), 4):
            emit("scale", True, str(k * by), f"The answer is {k} {word}.")
            emit("scale", True, f"{k} {word}", boxed(f"{k * by}"))
            emit("scale", False, f"{k} {word}", boxed(str(k)))
    for p, q in [(1, 2), (2, 3), (3, 5), (7, 4), (5, 8), (9, 2)]:
        for k in (2, 3):
            emit("ratio", True, f"{p}:{q}", boxed(f"{k * p}:{k * q}"))
            emit("ratio", False, f"{p}:{q}", boxed(f"{k * q}:{k * p}"))
    for k in (30, 45, 60, 90, 120, 270):
        emit("degrees", True, f"{k}^\\circ", boxed(latex(k * pi / 180)))
        emit("degrees", True, f"{k}^\\circ", f"The angle is {k} degrees.")
        emit("degrees", False, f"{k}^\\circ", boxed(latex(k * pi / 360)))


for part in (polynomials, fractions, radicals, functions, complex_numbers, solutions, equations, matrices, calculus, notation):
    part()
for row in rows:
    print("\t".join(map(str, row)))
