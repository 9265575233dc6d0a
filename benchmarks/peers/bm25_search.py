"""Time of bm25s on the corpus and queries that `crates/merit-search/examples/search.rs` writes, one query at a time.

    target/release/examples/search 100000 500 FOLDER
    python benchmarks/peers/bm25_search.py FOLDER [--numba] [--k 10] [--warm 20]

Reads FOLDER/corpus.jsonl and FOLDER/queries.json. Texts are split into words by `\\w+`, without stop words or stemming, as the
example's config `plain` does; `method` is lucene with k1 = 1.2 and b = 0.75, whose idf is that of the index. A search is
tokenising one query and retrieving the best k documents with their texts; no snippets are cut. bm25s stores the score of every
word in every document beforehand, so its build does more than an inverted index needs; --numba compiles the retrieval.

One JSON line for the build, then one for each length of query, with the fields of the example. `hits` counts documents with a
score above 0; `best` is the sum of all first scores, which times (k1 + 1), a factor that bm25s leaves out, is the index' sum.
"""

import argparse
import json
import math
import pathlib
import resource
import time
from importlib.metadata import version

import bm25s

TOKENS = {"stopwords": None, "stemmer": None, "token_pattern": r"(?u)\b\w+\b", "show_progress": False}
K1 = 1.2


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("--numba", action="store_true")
    args.add_argument("--k", type=int, default=10)
    args.add_argument("--warm", type=int, default=20)
    args = args.parse_args()

    texts = [json.loads(line)["text"] for line in (args.folder / "corpus.jsonl").open(encoding="utf-8")]
    before = time.perf_counter()
    retriever = bm25s.BM25(method="lucene", k1=K1, b=0.75, backend="numba" if args.numba else "numpy")
    retriever.index(bm25s.tokenize(texts, **TOKENS), show_progress=False)
    if args.numba:
        retriever.activate_numba_scorer()
    report("build", args, documents=len(texts), seconds=time.perf_counter() - before, peak_mib=peak_mib())

    for queries in json.loads((args.folder / "queries.json").read_text(encoding="utf-8")):
        report("search", args, words=len(queries[0].split()), **timed(retriever, texts, queries, args))


def timed(retriever, texts, queries, args):
    times, hits, best, cpu = [], 0, 0.0, 0.0
    for at, query in enumerate(queries):
        cpu = time.thread_time() if at == args.warm else cpu
        start = time.perf_counter()
        tokens = bm25s.tokenize(query, **TOKENS)
        found = retriever.retrieve(tokens, corpus=texts, k=args.k, show_progress=False)
        took = time.perf_counter() - start
        if at >= args.warm:
            times.append(took * 1e3)
            hits += int((found.scores[0] > 0).sum())
            best += float(found.scores[0][0])
    cpu = time.thread_time() - cpu
    times.sort()
    quantile = lambda share: times[min(max(math.ceil(share * len(times)), 1), len(times)) - 1]
    return {
        "queries": len(times),
        "hits": hits,
        "best": best,
        "p50_ms": quantile(0.5),
        "p95_ms": quantile(0.95),
        "p99_ms": quantile(0.99),
        "mean_cpu_ms": cpu * 1e3 / len(times),
    }


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(what, args, **fields):
    peer = f"bm25s {version('bm25s')}" + (f" numba {version('numba')}" if args.numba else "")
    print(json.dumps({"what": what, "peer": peer, **fields}), flush=True)


if __name__ == "__main__":
    main()
