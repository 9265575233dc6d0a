#!/bin/sh
# Creates the peers' virtual environment in .cache/peers (ignored by git, about 6 GB, most of it torch's
# CUDA libraries, without which torch does not load) and installs the pinned versions.
#
# verl goes in without its dependencies: only its advantage functions are called. What they import is in
# requirements.txt (newer than verl's own bounds on transformers and tensordict), Ray is stubbed.
set -eu
cd "$(dirname "$0")/../.."
[ -x .cache/peers/bin/python ] || "${PYTHON:-python3}" -m venv .cache/peers
.cache/peers/bin/python -m pip install --quiet -r benchmarks/peers/requirements.txt
.cache/peers/bin/python -m pip install --quiet --no-deps verl==0.9.1
.cache/peers/bin/python -m pip list --format=freeze | grep -E '^(torch|transformers|verifiers|verl)=='
