"""Sets up the trainers that read what `merit export` writes, once, in .cache/trainers: TRL, and verl's reader.

    python3 benchmarks/peers/trainers_environment.py

The torch of the Python index is linked against the libraries of a graphics card, more than two gigabytes that nothing here calls.
In their place stand small ones that answer every call with an error, as on a machine without a card; `cc` makes them.

Exit code 0: it is there. 3: the index could not be reached. 5: not on this machine. Anything else: a real failure.
"""

import collections
import fcntl
import hashlib
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import venv

from mcp_environment import CACHE, HERE, install

NOT_HERE = 5
FOLDER = CACHE / "trainers"
REQUIREMENTS = HERE / "requirements-trainers.txt"
TOOLS = ["cc", "nm", "readelf"]
OF_THE_CARD = ("libcu", "libnccl", "libnvrtc", "libnvshmem")
# The library whose symbols have a version that is not its name, and the one that gets those without any version.
OTHER_VERSIONS, UNVERSIONED = {"NVSHMEM": "libnvshmem_host.so.3"}, "libnccl.so.2"


def main():
    known = platform.system() == "Linux" and platform.machine() == "x86_64" and sys.version_info[:2] == (3, 11)
    if not known or not all(shutil.which(tool) for tool in TOOLS):
        return NOT_HERE
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / "trainers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + pathlib.Path(__file__).read_bytes()).hexdigest()
        stamp = FOLDER / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return 0
        shutil.rmtree(FOLDER, ignore_errors=True)
        venv.create(FOLDER, with_pip=True)
        pip = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        code = install([*pip, "--retries", "1", "--no-deps", "-r", str(REQUIREMENTS)])
        if code == 0:
            stand_in(next(FOLDER.glob("lib/python*/site-packages/torch/lib")))
            stamp.write_text(wanted)
        return code


def lines(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()


def stand_in(folder):
    """Makes every library of the card that those in `folder` need and that is not there."""
    needed, defined, wanted = set(), set(), set()
    for file in folder.glob("*.so"):
        needed |= {line.split("[")[1].split("]")[0] for line in lines("readelf", "-dW", str(file)) if "(NEEDED)" in line}
        for line in lines("nm", "-D", str(file)):
            kind, symbol = line.split()[-2:]
            name, _, version = symbol.partition("@")
            if kind == "U":
                wanted.add((name, version.lstrip("@")))
            else:
                defined.add(name)
    missing = {name for name in needed if name.startswith(OF_THE_CARD)}
    symbols = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, version in wanted:
        if version in missing or version in OTHER_VERSIONS:
            symbols[OTHER_VERSIONS.get(version, version)][version].add(name)
        elif not version and name not in defined and name.startswith(("cu", "nv", "nccl")):
            symbols[UNVERSIONED][""].add(name)
    for library in missing:
        build(folder / library, symbols[library])


def build(path, by_version):
    with tempfile.TemporaryDirectory() as folder:
        source, versions = pathlib.Path(folder, "stand_in.c"), pathlib.Path(folder, "versions.map")
        source.write_text("".join(function(name) for names in by_version.values() for name in sorted(names)))
        named = {version: names for version, names in by_version.items() if version}
        versions.write_text("".join(f"{version} {{ {'; '.join(sorted(names))}; }};\n" for version, names in named.items()))
        script = [f"-Wl,--version-script={versions}"] if named else []
        options = ["-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", *script]
        subprocess.run(["cc", *options, "-o", str(path), str(source)], check=True)


def function(name):
    if name.endswith(("String", "Name")):
        return f'const char *{name}(void) {{ return "there is no graphics card"; }}\n'
    # 100 is what CUDA answers where there is no device.
    return f"int {name}(void) {{ return 100; }}\n"


if __name__ == "__main__":
    sys.exit(main())
