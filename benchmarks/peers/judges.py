"""A judge that is a model, as merit, autorubric and rubrify ask it: one JSON line.

    python benchmarks/peers/judges.py merit|merit-compare|autorubric|rubrify PAIRS.json [--faults SHARE] [--kill] [--merit FILE]

PAIRS is what `judge_server.py` reads; it is started here, on a free port of this machine. Every side is asked for a grade from 0 to 10 of
each candidate, with the same one criterion, 32 requests at a time; `merit-compare` asks which of two is better, in both orders. The better of a pair is the one with
the higher grade; a tie is half right. autorubric: one ordinal criterion of eleven options, its `EvalRunner` with a checkpoint folder. rubrify: one
numeric criterion, its `Judge` with a semaphore of ours around it, because it has no batch of its own; what it raises is written down and the
rest goes on. All else is each side's default; only the shortest wait before a retry is 1 s or less everywhere.

With `--kill` the side is killed (SIGKILL) once the server has given half of the answers, and started again with the same folder; where that cannot be read any more,
without it. `seconds` is
the whole process; `judging_s` leaves out what a peer takes to be imported.
"""

import argparse
import asyncio
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.metadata import version

CRITERION = "The request is done, rightly and completely."
AT_ONCE = 32
HERE = pathlib.Path(__file__).resolve().parent


def candidates(pairs):
    """Every candidate once, with its request, in the order of the file; one that stands in several pairs is not asked about again."""
    return list(dict.fromkeys((pair["prompt"], pair[side]) for pair in pairs for side in ("chosen", "rejected")))


# ---- the peers, each in a process of its own: one line {"scores": [number or null], "errors": [text or null], "judging_s"}


def work_autorubric(pairs, base_url, folder):
    import logging

    from autorubric import Criterion, CriterionOption, LLMConfig, Rubric, RubricDataset
    from autorubric.eval import EvalConfig, EvalRunner
    from autorubric.graders import CriterionGrader

    logging.disable(logging.CRITICAL)
    options = [CriterionOption(label=f"grade-{n}", value=n / 10) for n in range(11)]
    rubric = Rubric([Criterion(requirement=CRITERION, options=options, scale_type="ordinal")])
    data = RubricDataset(prompt=None, rubric=rubric, items=[], name="pairs")
    for at, (prompt, text) in enumerate(candidates(pairs)):
        data.add_item(submission=text, description=str(at), prompt=prompt)
    judge = LLMConfig(model="openai/judge", api_base=base_url, api_key="none", max_parallel_requests=AT_ONCE)
    config = EvalConfig(show_progress=False, experiment_name="bench", experiments_dir=folder)
    begun = time.perf_counter()
    result = asyncio.run(EvalRunner(data, CriterionGrader(judge_model_config=judge, seed=1), config).run())
    took = time.perf_counter() - begun
    found = sorted(result.item_results, key=lambda item: item.item_idx)
    scores = [item.report.score for item in found]
    errors = [item.error or item.report.error or next((one.error for one in item.report.report or [] if getattr(one, "error", None)), None) for item in found]
    unknown = [item.report.cannot_assess_count for item in found]
    return scores, errors, took, {"cannot_assess": sum(unknown)}


def work_rubrify(pairs, base_url, _folder):
    from harn_ai.models import get_model
    from rubrify import Criterion, Judge, JudgeConfig, NumericScale, Rubric, RubricMeta, compile_rubric

    scale = NumericScale(minimum=0, maximum=10, step=1)
    criterion = Criterion(id="C1", title="Done", description=CRITERION, scale=scale, weight=1.0)
    bundle = compile_rubric(Rubric(meta=RubricMeta(name="pairs", version="1"), goal=CRITERION, criteria=[criterion])).bundle
    model = get_model("openai", "gpt-4o").model_copy(update={"baseUrl": base_url, "api": "openai-completions"})
    judge = Judge(JudgeConfig(model=model, api_key="none"))

    async def one(gate, prompt, text):
        async with gate:
            try:
                said = await judge.evaluate(bundle, text, context_text=prompt)
            except Exception as error:  # noqa: BLE001  what it raises is the finding
                return None, f"{type(error).__name__}: {error}"
            warned = [warning for part in said.criterion_judgments for warning in part.warnings]
            return said.aggregation.normalized_score, "; ".join(warned) or None

    async def everything():
        gate = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(one(gate, prompt, text) for prompt, text in candidates(pairs)))

    begun = time.perf_counter()
    said = asyncio.run(everything())
    return [score for score, _ in said], [error for _, error in said], time.perf_counter() - begun, {}


def work(side, pairs, base_url, folder):
    scores, errors, took, more = (work_autorubric if side == "autorubric" else work_rubrify)(pairs, base_url, folder)
    print(json.dumps({"scores": scores, "errors": errors, "judging_s": took} | more))


# ---- the driver


def stats(base_url):
    with urllib.request.urlopen(f"{base_url}/stats") as response:
        return json.load(response)


def command(side, args, folder, base_url):
    if not side.startswith("merit"):
        return [sys.executable, __file__, side, str(args.pairs), "--work", base_url, "--folder", str(folder)]
    asked = '{ type = "compare" }' if side == "merit-compare" else '{ type = "score", scale = 10 }'
    (folder / "judge.toml").write_text(
        f'ask = {asked}\nrubric = "{CRITERION}"\nkept = "answers.jsonl"\nlength = 100000\n[backend]\ntype = "openai"\n'
        f'endpoint = {{ base_url = "{base_url}/v1", model = "judge", concurrency = {AT_ONCE} }}\n'
    )
    lines = [json.dumps(pair) for pair in json.loads(args.pairs.read_text(encoding="utf-8"))]
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [args.merit.resolve(), "judge", "test", "judge.toml", "pairs.jsonl", "--json"]


def told_by_merit(line):
    """How right it is about each pair, and how many questions have no verdict, by kind."""
    tested = json.loads(line)["tested"]
    right = tested["judge"]["right"]
    return {"right": right, "without_verdict": sum(tested["unsaid"].values()), "failed_with_a_number": 0, "unsaid": tested["unsaid"]}


def told_by_peer(line, pairs):
    said = json.loads(line)
    right, score = [], dict(zip(candidates(pairs), said["scores"]))
    for pair in pairs:
        better, worse = (score[pair["prompt"], pair[side]] for side in ("chosen", "rejected"))
        missing = better is None or worse is None
        right.append(None if missing else (better > worse) + (better == worse) / 2)
    numbers = sum(score is not None and error is not None for score, error in zip(said["scores"], said["errors"]))
    kinds = {}
    for error in filter(None, said["errors"]):
        kinds[error[:80]] = kinds.get(error[:80], 0) + 1
    return {
        "right": right, "without_verdict": sum(score is None for score in said["scores"]), "failed_with_a_number": numbers,
        "judging_s": said["judging_s"], "errors": dict(list(kinds.items())[:8]), "cannot_assess": said.get("cannot_assess"),
    }  # fmt: skip


def run(side, args, folder, base_url):
    """The side until its end; killed once on the way where that is asked for."""
    line, begun = command(side, args, folder, base_url), time.perf_counter()
    pairs = json.loads(args.pairs.read_text(encoding="utf-8"))
    half = len(pairs) if side == "merit-compare" else len(candidates(pairs)) // 2
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    if args.kill:
        child = subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while child.poll() is None and stats(base_url)["answers"] < half:
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()

    def whole():
        return subprocess.run(line, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    done, broken = whole(), None
    if args.kill and done.returncode:
        # What it kept cannot be read: a person would begin anew.
        broken = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        shutil.rmtree(folder / "bench", ignore_errors=True)
        done = whole()
    took = time.perf_counter() - begun
    lines = [one for one in done.stdout.splitlines() if one.startswith("{")]
    if done.returncode or not lines:
        sys.exit(f"{side} ended with {done.returncode}: {done.stderr[-2000:]}")
    told = told_by_merit(lines[-1]) if side.startswith("merit") else told_by_peer(lines[-1], pairs)
    right = told.pop("right")
    said = [one for one in right if one is not None]
    told |= {"accuracy": sum(said) / len(said), "pairs_judged": len(said), "pairs": len(right), "seconds": took}
    return {"judging_s": took, "resume_failed": broken} | told


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("side", choices=["merit", "merit-compare", "autorubric", "rubrify"])
    args.add_argument("pairs", type=pathlib.Path)
    args.add_argument("--faults", type=float, default=0.0)
    args.add_argument("--kill", action="store_true")
    args.add_argument("--merit", type=pathlib.Path, default=pathlib.Path("target/release/merit"))
    args.add_argument("--work", help=argparse.SUPPRESS)
    args.add_argument("--folder", help=argparse.SUPPRESS)
    args = args.parse_args()
    args.pairs = args.pairs.resolve()
    if args.work:
        return work(args.side, json.loads(args.pairs.read_text(encoding="utf-8")), f"{args.work}/v1", args.folder)
    server = [sys.executable, HERE / "judge_server.py", args.pairs, "--faults", str(args.faults)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as judge, tempfile.TemporaryDirectory() as folder:
        try:
            base_url = f"http://127.0.0.1:{judge.stdout.readline().strip()}"
            told = run(args.side, args, pathlib.Path(folder), base_url) | {"server": stats(base_url)}
        finally:
            judge.kill()
    versions = {} if args.side.startswith("merit") else {"version": version(args.side)}
    print(json.dumps({"asked": args.side, "faults": args.faults, "killed": args.kill} | versions | told))


if __name__ == "__main__":
    main()
