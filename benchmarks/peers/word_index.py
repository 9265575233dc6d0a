"""Two word indexes on disk over the corpus and queries that `crates/merit-search/examples/search.rs` writes.

    target/release/examples/search 100000 500 FOLDER plain
    python benchmarks/peers/word_index.py FOLDER tantivy|fts5 [--k 10] [--warm 20]

tantivy: one field, its default tokenizer, the searcher of a committed index, any of the words. fts5: SQLite's, tokenizer unicode61,
`MATCH` with `OR` between the words, `ORDER BY rank`. Both fetch the texts of the k best documents; no snippets are cut. The
corpus is of lower-case ASCII letters, so that all sides split it alike. One query at a time on one thread.

One JSON line for the build, with the bytes on disk, then one for each length of query, with the fields of the example.
"""

import argparse
import json
import math
import pathlib
import resource
import shutil
import sqlite3
import tempfile
import time


class Tantivy:
    def __init__(self, folder):
        import tantivy

        self.tantivy = tantivy
        schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
        self.index = tantivy.Index(schema, path=str(folder))
        self.name = f"tantivy {tantivy.__version__}"

    def fill(self, texts):
        writer = self.index.writer(heap_size=256_000_000, num_threads=1)
        for text in texts:
            writer.add_document(self.tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, query, k):
        found = self.searcher.search(self.index.parse_query(query, ["text"]), k, count=False).hits
        return [(score, self.searcher.doc(address)["text"]) for score, address in found]


class Fts5:
    def __init__(self, folder):
        self.connection = sqlite3.connect(folder / "index.db")
        self.connection.execute("CREATE VIRTUAL TABLE documents USING fts5(text)")
        self.name = f"sqlite {sqlite3.sqlite_version}"

    def fill(self, texts):
        with self.connection:
            self.connection.executemany("INSERT INTO documents(text) VALUES (?)", ((text,) for text in texts))
        with self.connection:
            self.connection.execute("INSERT INTO documents(documents) VALUES ('optimize')")

    def search(self, query, k):
        words = " OR ".join(f'"{word}"' for word in query.split())
        ask = "SELECT rank, text FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?"
        return [(-rank, text) for rank, text in self.connection.execute(ask, (words, k))]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("engine", choices=["tantivy", "fts5"])
    args.add_argument("--k", type=int, default=10)
    args.add_argument("--warm", type=int, default=20)
    args = args.parse_args()

    place = pathlib.Path(tempfile.mkdtemp(dir=args.folder))
    try:
        engine = {"tantivy": Tantivy, "fts5": Fts5}[args.engine](place)
        count = 0

        def texts():
            nonlocal count
            with (args.folder / "corpus.jsonl").open(encoding="utf-8") as lines:
                for line in lines:
                    count += 1
                    yield json.loads(line)["text"]

        before = time.perf_counter()
        engine.fill(texts())
        seconds, disk = time.perf_counter() - before, sum(file.stat().st_size for file in place.iterdir())
        report("build", engine, documents=count, seconds=seconds, disk_mib=disk / 2**20)
        for queries in json.loads((args.folder / "queries.json").read_text(encoding="utf-8")):
            report("search", engine, documents=count, words=len(queries[0].split()), **timed(engine, queries, args))
    finally:
        shutil.rmtree(place)


def timed(engine, queries, args):
    times, hits, best, cpu = [], 0, 0.0, 0.0
    for at, query in enumerate(queries):
        cpu = time.thread_time() if at == args.warm else cpu
        start = time.perf_counter()
        found = engine.search(query, args.k)
        took = time.perf_counter() - start
        if at >= args.warm:
            times.append(took * 1e3)
            hits += len(found)
            best += found[0][0] if found else 0.0
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


def report(what, engine, **fields):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"what": what, "engine": engine.name, "peak_mib": peak, **fields}), flush=True)


if __name__ == "__main__":
    main()
