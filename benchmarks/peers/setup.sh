#!/bin/sh
# Creates virtual environments of the peers in .cache (ignored by git) and installs the pinned versions:
#
#   sh benchmarks/peers/setup.sh [peers] [maths] [graders] [judges] [search] [worlds] [llama]      without names: all
#
# peers    torch, transformers, verifiers, verl; about 6 GB, most of it torch's CUDA libraries, without which torch does not load.
#          verl goes in without its dependencies: only its advantage functions are called. What they import is in
#          requirements.txt (newer than verl's own bounds on transformers and tensordict), Ray is stubbed.
# maths    Math-Verify, about 120 MB.
# graders  OpenJudge, about 450 MB.
# judges   autorubric and rubrify, about 860 MB; rubrify needs Python 3.12.
# search   bm25s with numba, and tantivy, about 220 MB.
# worlds   TextArena, about 100 MB.
# llama    llama.cpp with its Python binding, about 150 MB; built from source for this machine, which takes a while. Two passes of
#          GCC are off: its header tells them of 8 of the 64 bytes that a tile configuration is loaded from, so they drop the rest,
#          and the first AMX instruction is illegal.
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- peers maths graders judges search worlds llama
for name in "$@"; do
    interpreter=python3
    case $name in
        peers) requirements=requirements.txt shown='torch|transformers|verifiers|verl' ;;
        maths) requirements=requirements-maths.txt shown='math-verify' ;;
        graders) requirements=requirements-graders.txt shown='py-openjudge' ;;
        judges) requirements=requirements-judges.txt shown='autorubric|rubrify' interpreter=python3.12 ;;
        search) requirements=requirements-search.txt shown='bm25s|tantivy' ;;
        worlds) requirements=requirements-worlds.txt shown='textarena|TextArena' ;;
        llama) requirements=requirements-llama.txt shown='llama-cpp-python'
            export CXXFLAGS='-fno-tree-dse -fno-dse' CMAKE_ARGS='-DGGML_NATIVE=ON -DGGML_OPENMP=ON -DLLAMA_CURL=OFF -DLLAVA_BUILD=OFF' ;;
        *) echo "no environment '$name'; known: peers, maths, graders, judges, search, worlds, llama" >&2 && exit 2 ;;
    esac
    python=.cache/$name/bin/python
    [ -x "$python" ] || "${PYTHON:-$interpreter}" -m venv ".cache/$name"
    "$python" -m pip install --quiet -r "benchmarks/peers/$requirements"
    [ "$name" != peers ] || "$python" -m pip install --quiet --no-deps verl==0.9.1
    "$python" -m pip list --format=freeze | tr _ - | grep -E "^($shown)=="
done
