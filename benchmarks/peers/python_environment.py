"""Sets up the packages of requirements-NAME.txt in .cache/NAME, once, for the tests of the Python package.

    python3 benchmarks/peers/python_environment.py gym         # Gymnasium, TextArena, Ray, and what runs the tests
    python3 benchmarks/peers/python_environment.py adapters    # Inspect and verifiers
    python3 benchmarks/peers/python_environment.py tensorboard # TensorBoard's reader of event files

Exit code 0: it is there. 3: the index could not be reached. Anything else: a real failure.
"""

import fcntl
import hashlib
import shutil
import sys
import venv

from mcp_environment import CACHE, HERE, install


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
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
        code = install([*pip, "--no-deps", "-r", str(requirements)])
        if code == 0:
            stamp.write_text(wanted)
        return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
