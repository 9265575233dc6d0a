"""Sets up Gymnasium and TextArena in .cache/gym, once, for the tests of the `python` world.

    python3 benchmarks/peers/gym_environment.py

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
REQUIREMENTS = HERE / "requirements-gym.txt"
# What pip says when it is the network's fault.
OFFLINE = ["(from versions: none)", "Max retries exceeded", "Temporary failure in name resolution"]


def main():
    folder = CACHE / "gym"
    CACHE.mkdir(exist_ok=True)
    # Tests run side by side; one of them sets up, the others wait.
    with open(CACHE / "gym.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
        stamp = folder / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return 0
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        code = install(folder / "bin" / "python")
        if code == 0:
            stamp.write_text(wanted)
        return code


def install(python):
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run([*pip, "--no-deps", "-r", str(REQUIREMENTS)], check=False, text=True, capture_output=True)
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return 0
    print(said, file=sys.stderr)
    return UNREACHABLE if any(sign in said for sign in OFFLINE) else 1


if __name__ == "__main__":
    sys.exit(main())
