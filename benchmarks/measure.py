"""What the benchmarks share: jobs, interleaved rounds in processor time, and tables with the name
of the processor.
"""

import csv
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from extrap.cli import config_schema
from extrap.runs.job import Job, make
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.utils.paths import conf_dir

RESULTS = Path(__file__).parents[1] / "results" / "bench"


def job(words: Iterable[str]) -> Job:
    """The job of `extrap <words>`."""
    config_schema.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        cfg = compose("config", [*words, "logger=none"], return_hydra_config=True)
    plain = OmegaConf.to_container(cfg, resolve=False, enum_to_str=True)
    del plain["sweep"]
    return make(plain, plain.pop("hydra")["runtime"]["choices"])


def stepper(words: Iterable[str], batches: int = 4) -> Callable[[], None]:
    """One training step of that job at every call: loss, backward, clipping, AdamW, schedule."""
    made = job(words)
    torch.manual_seed(0)
    lit = Lit(made.source.model(), made.training.optim, made.training.batches.mixture.weights)
    optim = lit.configure_optimizers()
    optimizer, schedule = optim["optimizer"], optim["lr_scheduler"]["scheduler"]
    data = [share(made.training.batches[t], 0, 1) for t in range(batches)]
    state = {"t": 0}

    def step() -> None:
        lit.training_step(data[state["t"] % batches], state["t"]).backward()
        lit.configure_gradient_clipping(optimizer)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        state["t"] += 1

    return step


def interleaved(calls: dict[str, Callable[[], None]], rounds: int, each: int) -> dict[str, float]:
    """Median over rounds of the processor seconds of a call; in a round every candidate is called
    `each` times, one after the other, so that what else the machine does meets all of them.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):  # the first warms up
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(each):
                call()
            found[name].append((time.process_time() - start) / each)
    return {name: median(times[1:]) for name, times in found.items()}


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Returns the processor's name with its family: `AMD EPYC family 26`.

    A cloud machine says `AMD EPYC` for each of four generations.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}
    name, family = fields.get("model name", platform.machine()), fields.get("cpu family", "")
    return f"{name} family {family}" if family else name


def commit() -> str:
    """Returns the commit of this code, whatever the working folder; "" outside a clone."""
    return subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()


def write(name: str, rows: list[dict[str, object]]) -> None:
    """results/bench/<name>.csv, with processor, load and commit in every row; printed too."""
    about = {
        "processor": processor(),
        "load": f"{os.getloadavg()[0]:.1f}",
        "torch": torch.__version__.partition("+")[0],
        "commit": commit(),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*rows[0], *about], lineterminator="\n")
        table.writeheader()
        table.writerows(row | about for row in rows)
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
