"""Sets up the packages of requirements-NAME.txt in .cache/NAME, once, for the tests of the Python package.

    python3 benchmarks/peers/python_environment.py gym         # Gymnasium, TextArena, Ray, and what runs the tests
    python3 benchmarks/peers/python_environment.py adapters    # Inspect and verifiers

Exit code 0: it is there. 3: the index could not be reached. Anything else: a real failure.
"""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys
import venv

UNREACHABLE = 3
HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache"
# What pip says when it is the network's fault.
OFFLINE = ["(from versions: none)", "Max retries exceeded", "Temporary failure in name resolution"]


def main(name):
    folder, requirements = CACHE / name, HERE / f"requirements-{name}.txt"
    CACHE.mkdir(exist_ok=True)
    # Tests run side by side; one of them sets up, the others wait.
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
        stamp = folder / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return 0
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        code = install(folder / "bin" / "python", requirements)
        if code == 0:
            stamp.write_text(wanted)
        return code


def install(python, requirements):
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run([*pip, "--no-deps", "-r", str(requirements)], check=False, text=True, capture_output=True)
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return 0
    print(said, file=sys.stderr)
    return UNREACHABLE if any(sign in said for sign in OFFLINE) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
