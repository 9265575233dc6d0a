"""Writes blocks of random bytes and the values that the `gguf` package reads from them, for merit-formats' tests.

    python3 -m venv /tmp/gguf && /tmp/gguf/bin/pip install gguf==0.19.0 numpy
    /tmp/gguf/bin/python benchmarks/agreement/gguf_blocks.py crates/merit-formats/tests/golden/blocks.json

Scales are drawn from small finite numbers; everything else in a block is any byte.
"""

import json
import sys

import gguf
import numpy

# Byte offsets of the half-precision numbers in a block.
SCALES = {
    "F16": [0],
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}
BLOCKS = 2


def main(path):
    random = numpy.random.default_rng(5)
    golden = []
    for name, scales in SCALES.items():
        kind = gguf.GGMLQuantizationType[name]
        size = gguf.GGML_QUANT_SIZES[kind][1]
        blocks = random.integers(0, 256, (BLOCKS, size), dtype=numpy.uint8)
        for at in scales:
            halves = random.normal(0, 0.05, BLOCKS).astype(numpy.float16)
            blocks[:, at : at + 2] = halves.view(numpy.uint8).reshape(BLOCKS, 2)
        data = blocks.view(numpy.float16) if name == "F16" else blocks
        values = gguf.quants.dequantize(data, kind).astype(numpy.float32).reshape(-1)
        bits = [int(bits) for bits in values.view(numpy.uint32)]
        golden.append({"encoding": name, "bytes": blocks.tobytes().hex(), "bits": bits})
    with open(path, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in golden) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
