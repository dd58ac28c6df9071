#!/bin/sh
# Everything that is measured on one GPU, some 25 minutes: sh benchmarks/gpu.sh
# Writes results/bench/gpu_*.csv. Needs what `make setup` installs, with a torch built for the GPU.
set -e
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
$PYTHON -m benchmarks.gpu "$@"
$PYTHON -m extrap experiment=reference/gpu train.steps=20 train.log_every=10 train.save_every=10 \
    study=gpu-try hydra.launcher.n_jobs=1
$PYTHON -m extrap experiment=reference/gpu train.steps=20 train.log_every=10 train.save_every=10 \
    study=gpu-try hydra.launcher.n_jobs=1 # all of it is skipped
