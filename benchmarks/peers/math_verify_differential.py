"""Math-Verify 0.9.0 beside merit's compat mode on pairs that neither was tuned on.

    python benchmarks/peers/math_verify_differential.py make COUNT SEED OUT.json     pairs with the peer's verdicts
    cargo run --release -p merit-maths --example triples -- OUT.json > OURS.jsonl
    python benchmarks/peers/math_verify_differential.py agree OUT.json OURS.jsonl

`make` needs math-verify==0.9.0 with antlr4-python3-runtime==4.13.2: with an older runtime the package loads an older grammar
and fails its own suite. Pairs come from four sources in equal parts: its suite's texts, mutated and crossed; GSM8K solutions
against right and perturbed answers; answers in the style of competition problems against rewritings of themselves and of
others; the same inside sentences. Same seed, same pairs.
"""

import collections
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"


def main():
    match sys.argv[1:]:
        case ["make", count, seed, out]:
            make(int(count), int(seed), out)
        case ["agree", pairs, ours]:
            agree(pairs, ours)
        case _:
            sys.exit(__doc__)


def make(count, seed, out):
    import logging

    import math_verify

    logging.disable(logging.CRITICAL)
    rng = random.Random(seed)
    sources = [suite_pair(rng), gsm8k_pair(rng), answer_pair(rng), sentence_pair(rng)]
    triples = []
    for i in range(count):
        source = i % len(sources)
        gold, prediction = next(sources[source])
        parsed = [math_verify.parse(text) for text in (gold, prediction)]
        expected = bool(math_verify.verify(*parsed))
        name = ["suite", "gsm8k", "answer", "sentence"][source]
        shown = [[str(p) for p in side] for side in parsed]
        triples.append({"id": f"{name}:{i}", "gold": gold, "prediction": prediction, "expected": expected, "read": shown})
    pathlib.Path(out).write_text(json.dumps(triples, indent=1), encoding="utf-8")


def suite_pair(rng):
    texts = json.loads((ROOT / ".cache/math-verify/triples.json").read_text(encoding="utf-8"))
    short = [t for t in texts if len(t["gold"]) + len(t["prediction"]) < 400]
    while True:
        a, b = rng.choice(short), rng.choice(short)
        if rng.random() < 0.7:
            b = a
        gold, prediction = a["gold"], b["prediction"]
        for _ in range(rng.choice([0, 1, 2, 3, 5])):
            if rng.random() < 0.5:
                gold = mutated(rng, gold)
            else:
                prediction = mutated(rng, prediction)
        yield gold, prediction


def mutated(rng, text):
    at = rng.randrange(len(text) + 1)
    pieces = ["0", "1", "2", "7", "x", "-", "+", " ", ",", ".", "{", "}", "(", ")", "^", "\\pi", "\\%", "=", "\\sqrt{2}"]
    match rng.randrange(4):
        case 0:
            return text[:at] + rng.choice(pieces) + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at] + rng.choice(pieces) + text[at + 1 :]
        case _:
            other = rng.randrange(len(text) + 1)
            low, high = min(at, other), max(at, other)
            return text[:low] + text[low:high].swapcase() + text[high:]


def gsm8k_pair(rng):
    lines = (DATA / "gsm8k-test.jsonl").read_text(encoding="utf-8").splitlines()
    while True:
        solution = json.loads(rng.choice(lines))["answer"]
        right = solution.rsplit("####", 1)[1].strip()
        number = right.replace(",", "")
        variants = [right, number, number + ".0", number + ".00", f"${number}", f"{number}%", str(int(number) + 1)]
        variants += [f"{int(number):,}", number + "0", f"{number}/1", f"\\frac{{{int(number) * 2}}}{{2}}", f"-{number}"]
        frames = ["{}", "\\boxed{{{}}}", "The answer is {}.", "${}$", "#### {}", "So she has {} left. I hope it is correct."]
        prediction = rng.choice(frames).format(rng.choice(variants))
        gold = rng.choice([solution, right, f"${number}$", f"\\boxed{{{number}}}"])
        yield gold, prediction


def answers(rng):
    """An answer with a few rewritings, right and wrong ones mixed."""
    a, b, c, n = (rng.randint(1, 12) for _ in range(4))
    v = rng.choice("xyzabnkt")
    shapes = [
        [f"\\frac{{{a}}}{{{b}}}", f"{a}/{b}", f"\\dfrac{{{a}}}{{{b}}}", f"\\frac{{{2 * a}}}{{{2 * b}}}", f"{a / b:.4f}", f"{a / b:.7f}"],
        [f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"\\sqrt{{{b}}} \\cdot {a}", f"{a}\\sqrt{b}", f"{a}\\sqrt{{{b + 1}}}"],
        [f"({a},{b})", f"\\left({a}, {b}\\right)", f"{{{a},{b}}}", f"[{a},{b}]", f"({b},{a})", f"{a},{b}", f"(x,y)=({a},{b})"],
        [f"{v}^2+{a}{v}+{b}", f"{b}+{a}{v}+{v}^2", f"{v}^2+{a}{v}-{b}", f"{v}({v}+{a})+{b}", f"{v}^{{2}} + {a} {v} + {b}"],
        [f"({v}+{a})({v}-{b})", f"{v}^2+{a - b}{v}-{a * b}".replace("+-", "-"), f"({v}-{b})({a}+{v})", f"({v}+{a})({v}+{b})"],
        [f"{v}={a}", f"{a}", f"{v} = {a}.0", f"y={a}", f"{v}={b}", f"{v}=\\frac{{{a * 3}}}{{3}}"],
        [f"{v}<{a}", f"{v} \\lt {a}", f"{a}>{v}", f"(-\\infty,{a})", f"{v}\\le {a}", f"{v} \\in (-\\infty, {a})"],
        [f"[{-a},{b}]", f"{-a}\\le {v}\\le {b}", f"[{-a}, {b}.0]", f"({-a},{b})", f"{v} \\in [{-a},{b}]"],
        [f"({-a},{b})\\cup({b + 1},{b + 3})", f"({b + 1},{b + 3}) \\cup ({-a},{b})", f"({-a},{b})\\cup({b},{b + 3})"],
        [f"\\{{{a},{a + b},{a + b + c}\\}}", f"{a + b + c}, {a}, {a + b}", f"{a},{a + b}", f"{{{a},{a + b},{a + b + c}}}"],
        [f"{a}\\pi", f"\\pi {a}", f"{a * 3.14159265:.5f}", f"{a}\\cdot\\pi", f"{a}\\pi\\text{{ cm}}", f"{a + 1}\\pi"],
        [f"{a}\\%", f"{a} percent", f"{a}", f"\\frac{{{a}}}{{100}}", f"{a / 100}", f"{a}\\text{{ percent}}"],
        [f"{a}^\\circ", f"{a}", f"{a}^{{\\circ}}", f"{a} \\text{{ degrees}}", f"{a}\\pi/180"],
        [f"{a}+{b}i", f"{b}i+{a}", f"{a}-{b}i", f"{a} + {b}\\cdot i", f"{a}+{b}I"],
        [f"{a}^{{{n}}}", f"{a ** n}", f"{a}^{n}", f"{a} \\cdot {a}^{{{n - 1}}}", f"{a}^{{{n + 1}}}"],
        [f"\\log_{{{a + 1}}} {b}", f"\\frac{{\\ln {b}}}{{\\ln {a + 1}}}", f"\\log_{a + 1}({b})", f"\\log {b}"],
        [f"\\sin {v}", f"\\sin({v})", f"\\cos(\\frac{{\\pi}}{{2}}-{v})", f"\\sin {v}^2", f"\\sin^2 {v}", f"sin({v})"],
        [f"\\binom{{{a + b}}}{{{b}}}", f"\\frac{{{a + b}!}}{{{a}!{b}!}}", f"{a + b} \\choose {b}", f"{a + b}"],
        [f"\\begin{{pmatrix}}{a} & {b} \\\\ {c} & {n}\\end{{pmatrix}}", f"\\begin{{bmatrix}}{a}&{b}\\\\{c}&{n}\\end{{bmatrix}}", f"\\begin{{pmatrix}}{a} & {b} \\\\ {c} & {n + 1}\\end{{pmatrix}}"],
        [f"{a}\\text{{ km/h}}", f"{a} \\text{{ km}}", f"{a}", f"{a} kmh", f"{a}\\,\\text{{m}}^2", f"{a} m"],
        [f"\\text{{{rng.choice(['east', 'Monday', 'odd', 'Yes', 'A'])}}}", "\\text{odd}", "odd", "Monday", "\\text{A}", "A"],
        [f"{a}\\pm\\sqrt{{{b}}}", f"{a}+\\sqrt{{{b}}}, {a}-\\sqrt{{{b}}}", f"\\{{{a}-\\sqrt{{{b}}},{a}+\\sqrt{{{b}}}\\}}", f"{a}+\\sqrt{{{b}}}"],
        [f"{a}{{,}}{b:03}", f"{a},{b:03}", f"{a}{b:03}", f"{a}\\,{b:03}", f"{a} {b:03}"],
        [f"{a}:{b}", f"\\frac{{{a}}}{{{b}}}", f"{a}/{b}", f"{b}:{a}", f"{a} : {b}"],
        [f"{a}\\frac{{1}}{{{b + 1}}}", f"\\frac{{{a * (b + 1) + 1}}}{{{b + 1}}}", f"{a + 1 / (b + 1):.3f}", f"{a} \\frac1{{{b + 1}}}"],
        [f"{v}^2+y^2={a}", f"y^2+{v}^2={a}", f"{a}={v}^2+y^2", f"2{v}^2+2y^2={2 * a}", f"{v}^2+y^2={a + 1}"],
        [f"|{v}-{a}|", f"|{a}-{v}|", f"\\lvert {v}-{a} \\rvert", f"{v}-{a}"],
        [f"e^{{{a}}}", f"\\exp({a})", f"e^{a}", f"\\frac{{1}}{{e^{{-{a}}}}}", f"e^{{{a + 1}}}"],
        [f"f({v})={a}{v}+{b}", f"{a}{v}+{b}", f"f({v}) = {b}+{a}{v}", f"f({v})={a}{v}-{b}"],
        [f"2^{{{a}}}\\cdot 3^{{{b}}}", f"{2 ** a * 3 ** b}", f"3^{b} \\times 2^{a}", f"6^{{{a}}}"],
        [f"\\infty", f"+\\infty", "-\\infty", "\\text{infinity}", "infinity"],
        [f"\\emptyset", "\\{\\}", "\\varnothing", "\\text{no solution}", "0"],
        [f"{a}x^{{{b}}}y", f"y x^{b} \\cdot {a}", f"{a}xy", f"{a}yx^{{{b}}}"],
    ]
    return rng.choice(shapes)


def answer_pair(rng):
    while True:
        shape = answers(rng)
        gold, prediction = rng.choice(shape[:2]), rng.choice(shape)
        if rng.random() < 0.1:
            prediction = rng.choice(answers(rng))
        yield f"${gold}$", rng.choice(["${}$", "\\boxed{{{}}}", "$\\boxed{{{}}}$", "$${}$$", "{}"]).format(prediction)


def sentence_pair(rng):
    frames = [
        "We compute ${1}$ first. Hence the answer is ${0}$.",
        "The final answer is ${0}$. I hope it is correct.",
        "Final Answer: The value is {0}.",
        "Thus $x = {1}$, and so \\[ \\boxed{{{0}}} \\]",
        "\\boxed{{{1}}} is wrong; \\boxed{{{0}}} is right.",
        "**Answer:** {0}",
        "Since ${1} > 0$, we get \\({0}\\).",
        "Answer: ${1}$ = ${0}$",
        "The answers are ${0}$ and ${1}$.",
    ]
    while True:
        shape, other = answers(rng), answers(rng)
        text = rng.choice(frames).format(rng.choice(shape), rng.choice(other))
        yield f"${rng.choice(shape[:2])}$", text


def agree(pairs, ours):
    expected = {t["id"]: t for t in json.loads(pathlib.Path(pairs).read_text(encoding="utf-8"))}
    counts = collections.Counter()
    for line in pathlib.Path(ours).read_text(encoding="utf-8").splitlines():
        got = json.loads(line)
        want = expected[got["id"]]
        source = got["id"].split(":")[0]
        same = got["equal"] == want["expected"]
        counts[source, same] += 1
        if not same:
            read = [[c["parsed"] for c in got["verdict"][side]["candidates"]] for side in ("gold", "response")]
            print(f"{got['id']}: peer {want['expected']}: {want['gold'][-80:]!r} | {want['prediction'][-100:]!r}")
            print(f"    peer read {want['read']}; here {read} {got['verdict']['rule']}")
    for source in sorted({s for s, _ in counts}):
        print(f"{source}: {counts[source, True]} of {counts[source, True] + counts[source, False]} agree")
    right = sum(n for (_, same), n in counts.items() if same)
    print(f"all: {right} of {sum(counts.values())} agree ({right / max(1, sum(counts.values())):.2%})")


if __name__ == "__main__":
    main()
