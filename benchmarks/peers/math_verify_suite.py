"""Writes the (gold, prediction, expected) triples of Math-Verify 0.9.0's own test suite to .cache/math-verify/triples.json.

The source distribution is fetched from the package index, checked against a pinned hash and unpacked beside the
output; nothing of it is installed. The test files are run with stand-ins for pytest, sympy and Math-Verify itself, which
record what each test would have asked: both texts, where answers may be looked for, the tolerances, what was expected.

Exit code 0: written (or already there). 3: the index could not be reached. Anything else: a real failure.
"""

import hashlib
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import types

NAME = "math_verify-0.9.0"
SHA256 = "45ac6c61344ba056b9e99a660a4bc8d044ed408f730aed68c60435aa5eec4645"
UNREACHABLE = 3
FOLDER = pathlib.Path(__file__).resolve().parents[2] / ".cache" / "math-verify"


def main():
    out = FOLDER / "triples.json"
    if out.exists():
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    archive = FOLDER / f"{NAME}.tar.gz"
    if not archive.exists() and not download(archive):
        print("math-verify's source distribution could not be fetched: no package index in reach", file=sys.stderr)
        return UNREACHABLE
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        print(f"{archive} has sha256 {found}, expected {SHA256}: refused; delete it to fetch it again", file=sys.stderr)
        return 1
    with tarfile.open(archive) as tar:
        tar.extractall(FOLDER, filter="data")
    triples = record(FOLDER / NAME / "tests")
    scratch = out.with_suffix(".tmp")
    scratch.write_text(json.dumps(triples, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(scratch, out)
    print(f"{len(triples)} triples in {out}")
    return 0


def download(archive):
    """Whether the archive is there now; a failure that is not the index's is shown and ends the program."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "math-verify==0.9.0"]
    done = subprocess.run([*command, "--dest", str(FOLDER)], check=False, text=True, capture_output=True)
    if archive.exists():
        return True
    if "No matching distribution found" not in done.stderr + done.stdout:
        sys.exit(f"pip could not fetch math-verify==0.9.0:\n{done.stdout}{done.stderr}")
    return False


class Stand(types.ModuleType):
    """A module in which every name exists and does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Anything:
    """Stands for any object: can be called, read, compared and computed with."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return Anything()

    def __getattr__(self, name):
        return Anything()

    def __add__(self, other):
        return Anything()

    __radd__ = __sub__ = __truediv__ = __mul__ = __add__


class Target:
    """An extraction target with the options it was given."""

    def __init__(self, kind, options):
        self.kind = kind
        self.options = options


class Answer:
    """What `verify` gives: notes that it was asked for."""

    def __init__(self, asked):
        self.asked = asked

    def __eq__(self, other):
        self.asked.setdefault("expected", bool(other))
        return True

    def __int__(self):
        return 0

    def __bool__(self):
        return True


class Recorder:
    def __init__(self):
        self.asked = []

    def parse(self, text, targets=None, **options):
        return {"text": text, "targets": targets, "options": options}

    def verify(self, gold, prediction, **options):
        if not isinstance(gold, dict) or not isinstance(prediction, dict):
            return Answer({})
        targets = gold["targets"]
        kinds = None if targets is None else [dict(kind=t.kind, **t.options) for t in targets]
        asked = {"gold": gold["text"], "prediction": prediction["text"], "targets": kinds, "options": options}
        self.asked.append(asked)
        return Answer(asked)


class Parametrize:
    """`pytest.mark.parametrize`, keeping the list on the function."""

    def __call__(self, names, rows):
        names = [name.strip() for name in names.split(",")]

        def keep(function):
            function.rows = [dict(zip(names, row)) for row in rows]
            return function

        return keep


def stand_ins(recorder):
    pytest = Stand("pytest")
    pytest.mark = types.SimpleNamespace(parametrize=Parametrize())
    package = Stand("math_verify")
    package.parse, package.verify = recorder.parse, recorder.verify
    for kind, name in [("latex", "Latex"), ("expr", "Expr"), ("string", "String")]:
        setattr(package, f"{name}ExtractionConfig", lambda kind=kind, **options: Target(kind, options))
    modules = {"pytest": pytest, "math_verify": package, "sympy": Stand("sympy")}
    for name in ["math_verify.parser", "math_verify.grader", "latex2sympy2_extended"]:
        modules[name] = Stand(name)
    for name in ["parse", "verify", "LatexExtractionConfig", "ExprExtractionConfig", "StringExtractionConfig"]:
        setattr(modules["math_verify.parser"], name, getattr(package, name))
        setattr(modules["math_verify.grader"], name, getattr(package, name))
    package.parser = modules["math_verify.parser"]
    return modules


def record(folder):
    recorder = Recorder()
    sys.modules.update(stand_ins(recorder))
    sys.path.insert(0, str(folder.parent))
    package = types.ModuleType("tests")
    package.__path__ = [str(folder)]
    sys.modules["tests"] = package
    triples = []
    for path in sorted(folder.glob("test_*.py")):
        module = importlib.import_module(f"tests.{path.stem}")
        for name, function in list(vars(module).items()):
            if not name.startswith("test_") or getattr(function, "__module__", "") != module.__name__:
                continue
            triples += of_test(recorder, path.stem, name, function)
    return triples


def of_test(recorder, file, name, function):
    triples = []
    for index, row in enumerate(getattr(function, "rows", [])):
        recorder.asked.clear()
        try:
            function(**row)
        except AssertionError:
            pass  # `int(answer) == 1`: the stand-in cannot know; the row says what was expected
        for asked in recorder.asked:
            expected = row.get("expected", row.get("result", asked.get("expected")))
            triples.append({**asked, "id": f"{file}:{name}:{index}", "expected": bool(expected)})
    return triples


if __name__ == "__main__":
    sys.exit(main())
