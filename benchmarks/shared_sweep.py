"""What a large sweep costs several processes that share it on one disk: `python -m
benchmarks.shared_sweep [jobs] [processes]`.

Each process reads every job as `extrap -m` does and starts those that are free; a job is a shell
that takes the lock of its run and writes the files of a trained one. The script prints, over all
processes: refused locks and stat calls (strace, of the first process) a job, the time to the first
job, on the wall and of the processor, and the memory of a parent.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import sweep_checks
from extrap.cli import config_schema
from extrap.cli.sweep import pool
from extrap.cli.sweep.process import Process, State
from extrap.runs import study
from extrap.utils.paths import conf_dir
from extrap.utils.progress import FILE

BEGAN = "EXTRAP_BENCHMARK_BEGAN"
"""In the environment of a process: the time of its start."""
SIDE_BY_SIDE = 4
"""Jobs of a process at once: the pool looks at them ten times a second."""
MARK = "/extrap-imports-are-over"
"""A path whose stat call separates, in the log of strace, the imports from the sweep."""
JOB = """\
mkdir -p runs/$1 && exec 9> runs/$1/.lock
flock -n 9 || { echo '{"phase": "held"}' > $EXTRAP_PROGRESS; exit 0; }
test ! -e runs/$1/weights.pt || { echo '{"phase": "skipped"}' > $EXTRAP_PROGRESS; exit 0; }
touch runs/$1/weights.pt
echo '{"schema": 2, "state": "trained", "steps": 1, "files": {}}' > runs/$1/state.json
"""


class Counted(Process):
    """A job that notes when the first of its process starts, and how often one was refused."""

    first: float | None = None
    spent = 0.0
    refused = 0

    def start(self) -> None:
        if Counted.first is None:
            Counted.first, Counted.spent = time.time(), time.process_time()
        super().start()

    def ended(self) -> bool:
        over = super().ended()
        Counted.refused += over and self.state is State.HELD
        return over


def worker(jobs: int) -> None:
    """Works on the sweep, and writes what it counted."""
    config_schema.register()
    os.environ[FILE] = "progress.json"  # so that no bar is drawn
    look = pool._now

    def looked(job: Process, *rest: Any) -> State:
        state = look(job, *rest)
        Counted.refused += state is State.HELD and state is not job.state
        return state

    pool._now = looked
    with sweep_checks.initialize_config_dir(conf_dir(), version_base="1.3"):
        reader = sweep_checks.reader()
        reader.n_jobs = SIDE_BY_SIDE
        batch = [[*words, "stage=train"] for words in sweep_checks.jobs(jobs)]
        sweep_checks.reader().jobs(batch[:1])  # imports what checks need
        Path(MARK).exists()
        found = reader.jobs(batch)
        study.write([job.entry for job in found])
    tiny = [
        Counted(
            f"{n}", ["sh", "-c", JOB, "sh", job.entry.run], replace(job.entry, tasks={}), job.state
        )
        for n, job in enumerate(found)
    ]
    os.environ.pop(FILE)
    with open(os.devnull, "w", encoding="utf-8") as quiet:
        sys.stderr = quiet
        reader.run(tiny)
    done = sum(job.state is State.DONE for job in tiny)
    first = Counted.first and Counted.first - float(os.environ[BEGAN])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    told = {"done": done, "refused": Counted.refused, "first": first, "memory": memory}
    told["spent"] = Counted.spent
    Path(f"told-{os.getpid()}.json").write_text(json.dumps(told), encoding="utf-8")


def run(folder: Path, jobs: int, processes: int) -> tuple[list[dict], int]:
    """Returns what each process counted, and the stat calls of the first."""
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.shared_sweep", "worker", str(jobs)]
    strace = shutil.which("strace")
    traced = [str(strace), "-o", "stats.txt", "-e", "trace=%%stat,access,readlink"]
    here = {"PYTHONPATH": str(Path(__file__).parents[1]), BEGAN: str(time.time())}
    started = [
        subprocess.Popen(
            [*(traced if strace and n == 0 else ()), *command], cwd=folder, env=os.environ | here
        )
        for n in range(processes)
    ]
    for one in started:
        one.wait()
    told = [json.loads(path.read_text()) for path in folder.glob("told-*.json")]
    stats = (folder / "stats.txt").read_text() if strace else ""
    return told, stats.partition(MARK)[2].count("\n")


def main(jobs: int, processes: int) -> None:
    with tempfile.TemporaryDirectory() as root:
        told, calls = run(Path(root, "all"), jobs, processes)
    print(f"{sum(one['done'] for one in told)} of {jobs} jobs by {[one['done'] for one in told]}")
    print(f"refused locks a job: {sum(one['refused'] for one in told) / jobs:.4f}")
    each = calls * processes / jobs
    print(f"stat calls a job, of {processes} parents after their imports: {each:.1f}")
    for what, name in (("first job after", "first"), ("of the processor", "spent")):
        print(f"{what}: {[one[name] and round(one[name], 1) for one in told]} s")
    print(f"memory of a parent: {max(one['memory'] for one in told):.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(int(sys.argv[2]))
    else:
        given = [*map(int, sys.argv[1:]), *(10_000, 4)[len(sys.argv) - 1 :]]
        main(*given)
