#!/bin/sh
# Everything that is measured on one GPU, some 15 minutes: sh benchmarks/gpu.sh [--tiny] [--profile] [--ways plain,compiled] [scheme ...]
# Writes results/bench/gpu_*.csv; then trains in the working folder (study gpu-try), is killed, resumes, evaluates and skips.
# Needs what `make setup` installs, with a torch built for the GPU. --tiny tries all of it on a CPU.
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
PYTHON=${PYTHON:-$here/.venv/bin/python}
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
"$PYTHON" -m benchmarks.gpu "$@"
words="experiment=reference/gpu scheme=rope,t5 seed=0 data/corpus=torch study=gpu-try logger=none
    train.tokens=null train.steps=20 train.warmup=2 train.log_every=10 train.save_every=10 hydra.launcher.n_jobs=1"
case " $* " in
*" --tiny "*)
    words="$words model=tiny trainer=cpu data.length=64 data.text.size=2 data.retrieval.size=2
        task=[kv] task.kv.multiples=[1] task.kv.trials=2"
    ;;
esac
"$PYTHON" -m extrap $words &
sleep "${KILLED_AFTER:-40}"
kill -KILL $! 2>/dev/null || true
wait || true
"$PYTHON" -m extrap $words # resumes
"$PYTHON" -m extrap $words # skips all of it
