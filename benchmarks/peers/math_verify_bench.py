"""Time of Math-Verify's `parse` and `verify` on pairs, in one thread.

    python benchmarks/peers/math_verify_bench.py FILE [--passes N] [--warm N] [--first N]

FILE is a list of {"id", "gold", "prediction", "expected"}, with "targets" (where answers may stand) and "options" (of `verify`)
where they are not the defaults. Of the first pairs, --warm are verified untimed; --first leaves out the rest of the file. Both
timeouts keep their default of 5 s; the extraction configs are made before the clock starts, importing is not timed. What is timed
is parse(gold), parse(prediction), verify, as in the package's own tests.

One JSON line for each pass. A quantile is the value that at least this share of the pairs do not pass; `wrong` names the pairs
whose verdict is not the expected one.
"""

import argparse
import json
import logging
import math
import pathlib
import sys
import time
from importlib.metadata import version

from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse, verify

KINDS = {"latex": LatexExtractionConfig, "expr": ExprExtractionConfig, "string": StringExtractionConfig}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("file", type=pathlib.Path)
    args.add_argument("--passes", type=int, default=1)
    args.add_argument("--warm", type=int, default=0)
    args.add_argument("--first", type=int)
    args = args.parse_args()

    logging.disable(logging.CRITICAL)  # a warning per timeout is not part of the work
    pairs = json.loads(args.file.read_text(encoding="utf-8"))[: args.first]
    work = [(pair, parsing_options(pair), pair.get("options", {})) for pair in pairs]
    for one in work[: args.warm]:
        verdict(*one)
    for number in range(args.passes):
        print(json.dumps(one_pass(work[args.warm :], number)), flush=True)


def parsing_options(pair):
    if pair.get("targets") is None:
        return {}
    return {"extraction_config": [target(**fields) for fields in pair["targets"]]}


def target(kind, **fields):
    # The package keeps configs as keys of a cache, so a list must be a tuple.
    return KINDS[kind](**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


def verdict(pair, parsing, verifying):
    return verify(parse(pair["gold"], **parsing), parse(pair["prediction"], **parsing), **verifying)


def one_pass(work, number):
    times, wrong = [], []
    for one in work:
        start = time.perf_counter()
        equal = verdict(*one)
        times.append((time.perf_counter() - start, one[0]["id"]))
        if equal != one[0]["expected"]:
            wrong.append(one[0]["id"])
    times.sort()
    seconds = sum(took for took, _ in times)
    quantile_ms = lambda share: times[max(1, math.ceil(share * len(times))) - 1][0] * 1e3
    return {
        "peer": "math-verify", "version": version("math-verify"), "antlr": version("antlr4-python3-runtime"), "threads": 1,
        "python": sys.version.split()[0], "when": "repeated" if number else "first", "pass": number, "pairs": len(times),
        "seconds": seconds, "pairs_per_s": len(times) / seconds, "p50_ms": quantile_ms(0.5), "p99_ms": quantile_ms(0.99),
        "max_ms": quantile_ms(1), "slowest": times[-1][1], "wrong": wrong,
    }  # fmt: skip


if __name__ == "__main__":
    main()
