"""Sets up the other sides of merit-mcp's tests, once: the official Python SDK and a server of the Python index in .cache/mcp,
a server of the npm index in .cache/mcp-npm.

    python3 benchmarks/peers/mcp_environment.py python|npm

Exit code 0: it is there. 3: the index could not be reached. 4: there is no `npm`. Anything else: a real failure.
"""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys
import venv

UNREACHABLE, NO_NPM = 3, 4
HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache"
REQUIREMENTS = HERE / "requirements-mcp.txt"
NPM_PACKAGE = "@modelcontextprotocol/server-everything@2026.8.31"
# What pip and npm say when it is the network's fault.
OFFLINE = [
    "(from versions: none)",
    "Max retries exceeded",
    "Temporary failure in name resolution",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ETIMEDOUT",
    "ENETUNREACH",
]


def main(kind):
    folder = CACHE / {"python": "mcp", "npm": "mcp-npm"}[kind]
    CACHE.mkdir(exist_ok=True)
    # Tests run side by side; one of them sets up, the others wait.
    with open(CACHE / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(REQUIREMENTS.read_bytes() if kind == "python" else NPM_PACKAGE.encode()).hexdigest()
        stamp = folder / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return 0
        shutil.rmtree(folder, ignore_errors=True)
        code = {"python": python, "npm": npm}[kind](folder)
        if code == 0:
            stamp.write_text(wanted)
        return code


def python(folder):
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return install([*pip, "--retries", "1", "-r", str(REQUIREMENTS)])


def npm(folder):
    program = shutil.which("npm")
    if program is None:
        return NO_NPM
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", "--save-exact"]
    return install([program, "install", "--prefix", str(folder), *options, NPM_PACKAGE])


def install(command):
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return 0
    print(said, file=sys.stderr)
    return UNREACHABLE if any(sign in said for sign in OFFLINE) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
