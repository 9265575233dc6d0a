"""Audits every dataset of reasoning-gym with `merit attack` and keeps what came of it.

    run.py MERIT [TASKS] [SEED]          all datasets: writes the raw file and the table
    run.py MERIT TASKS SEED NAME ...     some datasets: prints what was found and writes nothing
    run.py --table                       writes the table again from the raw file

MERIT is the merit binary; run it with the Python that has reasoning-gym 0.1.25. Writes benchmarks/raw/audits-reasoning-gym.jsonl
(one line per dataset, texts cut at 300 characters) and the table of docs/audits.md, between its two marks. What the rows mean,
and which of them are defects, is written in docs/audits.md by hand, with judgements.json for the rows.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RAW = ROOT / "benchmarks/raw/audits-reasoning-gym.jsonl"
PAGE = ROOT / "docs/audits.md"
SCORER = str(HERE / "reasoning_gym_scorer.py")
MARKS = ("<!-- table: benchmarks/audits/run.py -->", "<!-- end of table -->")
CUT = 300
RIGHT = ("gold", "gold-spaced")


def cut(text):
    return text if len(text) <= CUT else f"{text[:CUT]}… ({len(text)} characters)"


def earned(found):
    if found is None:
        return None
    payment = found["payment"]
    said = payment.get("value", payment.get("why"))
    return {"task": found["task"], "text": cut(found["text"]), "type": payment["type"], "earned": said, "share": found["share"]}


def compact(probe):
    counts = {key: probe[key] for key in ("attempts", "wins", "broke", "hangs", "unscorable", "changed")}
    return {"name": probe["name"], **counts, "best": earned(probe["best"]), "broken_by": earned(probe["broken_by"])}


def telling(probe):
    """Whether a probe shows anything: the right answer unpaid, or an attack that earned, broke or changed something."""
    if probe["should_pay"]:
        return probe["wins"] < probe["attempts"]
    share = (probe["best"] or {}).get("share")
    return bool(probe["wins"] or probe["broke"] or probe["hangs"] or probe["changed"] or (share or 0) > 0)


def audit(merit, name, tasks, seed):
    begun = time.monotonic()
    scorer = [sys.executable, SCORER, name, str(tasks), str(seed)]
    command = [merit, "attack", "--json", "--at-least", "F", "--limit", str(tasks), "--seed", str(seed), "--deadline", "5"]
    # Some datasets draw from sets: without a fixed hash seed a scorer that is begun anew would name other tasks.
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([*command, "--", *scorer], capture_output=True, text=True, env=env, preexec_fn=lambda: os.nice(10))
    record = {"dataset": name, "tasks": tasks, "seed": seed, "seconds": round(time.monotonic() - begun, 1)}
    if done.returncode != 0:
        return {**record, "error": cut(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode))}
    made = json.loads(done.stdout)
    attempts = sum(probe["attempts"] for probe in made["probes"])
    probes = [compact(probe) for probe in made["probes"] if telling(probe)]
    return {**record, "grade": made["grade"], "gold": made["gold"], "attempts": attempts, "findings": made["findings"], "probes": probes}


def quoted(text):
    seen = "".join(c if c.isprintable() or c == "\n" else "␣" if c.isspace() else "·" for c in text)
    one_line = seen.replace("\n", "⏎").replace("|", "\\|").replace("`", "'")
    return f"`{one_line[:60]}{'…' if len(one_line) > 60 else ''}`" if one_line.strip() else "(empty)"


def shown(probe):
    """One probe in a cell: what it earned and the text that earned it."""
    best, broken = probe["best"], probe["broken_by"]
    parts = []
    if probe["wins"] or (best and (best["share"] or 0) > 0.05):
        parts.append(f"{probe['name']} {best['earned']:.2f} {quoted(best['text'])}" if best["type"] == "reward" else probe["name"])
    if broken:
        said = str(broken["earned"])
        how = "hangs" if broken["type"] == "hangs" else "ends it" if said.startswith("it ended") else said.split(":")[0]
        parts.append(f"{probe['name']} **{how}** {quoted(broken['text'])}")
    if probe["changed"]:
        parts.append(f"{probe['name']}: {probe['changed']} paid differently")
    return parts


def row(record, judgements):
    judged = judgements.get(record["dataset"], "")
    if "error" in record:
        return f"| {record['dataset']} | – | {record['error']} | {judged} |"
    # Attacks by what they earned, unpaid right answers first; three are enough to see what is wrong.
    unpaid = [p for p in record["probes"] if p["name"] in RIGHT]
    attacks = [p for p in record["probes"] if p["name"] not in RIGHT]
    attacks.sort(key=lambda p: -((p["best"] or {}).get("share") or 0))
    cells = [f"{p['name']} unpaid in {p['attempts'] - p['wins']} of {p['attempts']}" for p in unpaid]
    for probe in attacks:
        cells += shown(probe)
    more = f"; {len(cells) - 3} more" if len(cells) > 3 else ""
    small = max(((p["best"] or {}).get("share") or 0 for p in attacks), default=0)
    nothing = f"nothing above {small:.2f}" if small > 0 else "nothing"
    return f"| {record['dataset']} | {record['grade']} | {'; '.join(cells[:3]) + more if cells else nothing} | {judged} |"


def table(records):
    judgements = json.loads((HERE / "judgements.json").read_text(encoding="utf-8"))
    head = ["| dataset | grade | what paid, or broke it | judged by hand |", "|---|---|---|---|"]
    order = {"F": 0, "D": 1, "C": 2, "B": 3, "A": 4}
    records = sorted(records, key=lambda r: (order.get(r.get("grade"), 5), r["dataset"]))
    return "\n".join(head + [row(record, judgements) for record in records])


def write_page(records):
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n{table(records)}\n{MARKS[1]}{after}", encoding="utf-8")


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    if arguments == ["--table"]:
        lines = RAW.read_text(encoding="utf-8").splitlines()
        write_page([record for record in map(json.loads, lines) if "dataset" in record])
        return
    merit, tasks, seed = arguments[0], int(arguments[1]) if len(arguments) > 1 else 5, int(arguments[2]) if len(arguments) > 2 else 1
    listed = subprocess.run([sys.executable, SCORER, "--list"], capture_output=True, text=True, check=True).stdout.split()
    records = []
    for name in arguments[3:] or listed:
        records.append(audit(merit, name, tasks, seed))
        print(f"{name}: {records[-1].get('grade') or records[-1]['error']} ({records[-1]['seconds']} s)", flush=True)
    if arguments[3:]:
        print(json.dumps(records, indent=1, ensure_ascii=False))
        return
    version = subprocess.run([merit, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    head = {"package": f"reasoning-gym {importlib.metadata.version('reasoning-gym')}", "merit": version, "date": time.strftime("%Y-%m-%d"),
            "tasks": tasks, "seed": seed, "command": f"benchmarks/audits/run.py MERIT {tasks} {seed}"}
    RAW.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in [head, *records]), encoding="utf-8")
    write_page(records)


if __name__ == "__main__":
    main(sys.argv[1:])
