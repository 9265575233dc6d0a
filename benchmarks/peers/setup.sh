#!/bin/sh
# Creates the peers' virtual environment in .cache/peers (git-ignored) and installs the pinned
# versions. verl is installed without its dependencies: the benchmark calls only its advantage
# functions, and the packages verl would pull in besides (Ray and others) are stubbed in the script.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
[ -x .cache/peers/bin/python ] || "$python" -m venv .cache/peers
.cache/peers/bin/python -m pip install --quiet -r benchmarks/peers/requirements.txt
.cache/peers/bin/python -m pip install --quiet --no-deps verl==0.9.1
.cache/peers/bin/python -m pip list --format=freeze | grep -iE '^(torch|transformers|verifiers|verl|numpy|openai)=='
