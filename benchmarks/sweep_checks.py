"""How long a sweep takes to check its jobs, and to skip finished ones: `python
benchmarks/sweep_checks.py [jobs]`.

It reads jobs as the launcher does, in a temporary folder: the launcher composes and builds one job
of each kind and varies the others. The script prints processor and wall seconds, and the processor
time of a job that shares nothing, in a reader of its own.
"""

import os
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "extrap" / "cli" / "_plugins"))

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import HydraContext
from hydra_plugins.extrap_local.launcher import LocalLauncher

from extrap.cli import app, config_schema, program
from extrap.runs import experiment
from extrap.runs.evaluate import entry, planned
from extrap.runs.folder import write_json
from extrap.utils.paths import conf_dir
from extrap.utils.progress import FILE

SCHEMES = ("rope", "alibi", "t5", "nope", "kerple-log")
ALONE = 20
"""Jobs that are read one by one."""


def jobs(n: int) -> list[list[str]]:
    """Overrides of n jobs: schemes, learning rates, seeds."""
    seeds = range(-(-n // (2 * len(SCHEMES))))
    grid = product(SCHEMES, ("0.001", "0.002"), seeds)
    return [[f"scheme={s}", f"train.lr={lr}", f"seed={seed}"] for s, lr, seed in grid][:n]


def reader() -> LocalLauncher:
    """The launcher of a sweep over the study `checks`."""
    words = ["study=checks", "logger=none", "hydra.mode=MULTIRUN"]
    master = compose("config", words, return_hydra_config=True)
    context = HydraContext(GlobalHydra.instance().config_loader(), None)
    made = LocalLauncher(1, 1)
    task = app.Program(program.prepare)
    made.setup(hydra_context=context, task_function=task, config=master)
    return made


def timed(batches: list[list[list[str]]]) -> tuple[float, float]:
    """Returns processor and wall seconds to read these batches, each in a reader of its own."""
    began = time.process_time(), time.perf_counter()
    for batch in batches:
        experiment._CHECKED.clear()
        reader().jobs(batch)
    return time.process_time() - began[0], time.perf_counter() - began[1]


def finish(batch: list[list[str]]) -> None:
    """Leaves the files of these jobs as if they had been trained and evaluated."""
    composed = reader()
    os.fsync = lambda handle: None  # type: ignore[assignment]  # files of a temporary folder
    for words in batch:
        job = program.job(composed._composed(words))
        run = job.run
        run.folder.mkdir(parents=True, exist_ok=True)
        run.weights.write_bytes(b"weights")
        write_json(run.curve, {"points": []})
        run.mark("trained", 1)
        for task, config in planned(job).items():
            file = entry(job).file(task)
            file.rows.parent.mkdir(parents=True, exist_ok=True)
            file.rows.write_text("run\n")
            run.mark_evaluated(file.note, config, file.rows)


def main(n: int) -> None:
    config_schema.register()
    os.environ[FILE] = "progress.json"  # so that no bar is drawn
    with (
        tempfile.TemporaryDirectory() as folder,
        initialize_config_dir(conf_dir(), version_base="1.3"),
    ):
        os.chdir(folder)
        batch = jobs(n)
        timed([batch[:1]])  # imports
        for what in ("check", "skip"):
            if what == "skip":
                finish(batch)
            alone = timed([[words] for words in batch[:ALONE]])[0] / min(n, ALONE)
            spent, waited = timed([batch])
            print(
                f"{what}: {n} jobs of {len(SCHEMES)} kinds in {spent:.1f} s of the processor, "
                f"{waited:.1f} s on the wall; a job alone {1e3 * alone:.0f} ms"
            )
        os.chdir("/")


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["10000"])[0]))
