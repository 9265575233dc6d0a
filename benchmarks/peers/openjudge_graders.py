"""Rate of OpenJudge's rule graders on pairs, in one thread.

    python benchmarks/peers/openjudge_graders.py FILE exact|contains|json [--passes N]

FILE is a list of {"response", "reference", "expected"}. `exact` and `contains` are `StringMatchGrader` with `exact_match` and
`substring_match`, its default of ignoring case kept; `json` is `JsonMatchGrader` with its defaults. Each is made once and called by
its public `aevaluate`; all calls are awaited one after the other inside one coroutine, so no event loop, task or runner is paid for
per call. One pass of warm-up, in which every score is held against the expected verdict, then timed passes; one JSON line with the
median of their rates.
"""

import argparse
import asyncio
import json
import pathlib
import statistics
import sys
import time
from importlib.metadata import version

from openjudge.graders.format.json.json_match import JsonMatchGrader
from openjudge.graders.text.string_match import StringMatchGrader

GRADERS = {
    "exact": lambda: StringMatchGrader(algorithm="exact_match"),
    "contains": lambda: StringMatchGrader(algorithm="substring_match"),
    "json": JsonMatchGrader,
}


async def graded(grader, pairs, passes):
    wrong = []
    for at, (response, reference, expected) in enumerate(pairs):
        score = await grader.aevaluate(response=response, reference_response=reference)
        if score.score != float(expected):
            wrong.append(at)
    rates = []
    for _ in range(passes):
        start = time.perf_counter()
        for response, reference, _expected in pairs:
            await grader.aevaluate(response=response, reference_response=reference)
        rates.append(len(pairs) / (time.perf_counter() - start))
    return wrong, statistics.median(rates)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("file", type=pathlib.Path)
    args.add_argument("what", choices=GRADERS)
    args.add_argument("--passes", type=int, default=1)
    args = args.parse_args()

    read = json.loads(args.file.read_text(encoding="utf-8"))
    pairs = [(pair["response"], pair["reference"], pair["expected"]) for pair in read]
    wrong, rate = asyncio.run(graded(GRADERS[args.what](), pairs, args.passes))
    print(json.dumps({
        "peer": "openjudge", "version": version("py-openjudge"), "python": sys.version.split()[0], "threads": 1, "what": args.what,
        "pairs": len(pairs), "passes": args.passes, "pairs_per_s": rate, "wrong": wrong,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
