"""How long `extrap status`, `table`, `report` and `plot` take on a study of many jobs: `python -m
benchmarks.ten_thousand [jobs]`.

The study is packed, in a temporary folder: the rows of five runs of results/zoo, each again under
another learning rate and as many seeds as there are jobs. Its jobs are noted in runs/.jobs; there
are no run folders. The script prints seconds on the wall and of the processor, and the most memory.
"""

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from extrap.results import packed
from extrap.results.places import PACKED
from extrap.results.sheets import in_order
from extrap.runs import study
from extrap.runs.study import Entry

ZOO = Path(__file__).parents[1] / "results" / "zoo" / PACKED
SCHEMES = ("rope", "alibi", "t5", "nope", "kerple-log")
STUDY = "many"
COMMANDS = (["status"], ["table"], ["plot"], ["report"])


def runs() -> dict[str, list[tuple[str, str, list[dict]]]]:
    """Returns the task, the digest and the rows of each sheet of seed 0 of a scheme."""
    zoo = packed.read(ZOO)
    assert zoo is not None
    found: dict[str, list[tuple[str, str, list[dict]]]] = {scheme: [] for scheme in SCHEMES}
    for name in zoo.sheets:
        rows = zoo.records(name)
        if rows and rows[0]["scheme"] in found and rows[0]["seed"] == 0:
            own = found[rows[0]["scheme"]]
            own.append((name.rpartition("__")[2], zoo.digest(name), rows))
    return found


def write(results: Path, jobs: int) -> int:
    """Writes the study and its jobs. Returns the number of its rows."""
    sheets: dict[str, tuple[str, list[dict]]] = {}
    entries = []
    of_scheme = runs()
    for job in range(jobs):
        scheme = SCHEMES[job % len(SCHEMES)]
        rate, seed = job // len(SCHEMES) % 2, job // (2 * len(SCHEMES))
        tasks = {}
        label = hashlib.sha256(f"{scheme} {rate}".encode()).hexdigest()[:8]
        run = f"{scheme}-{label}-s{seed}"
        for task, digest, rows in of_scheme[scheme]:
            config = hashlib.sha256(f"{scheme} {rate} {task}".encode()).hexdigest()[:12]
            new = {"run": run, "study": STUDY, "seed": seed, "config": config}
            sheets[f"{run}__direct__{task}"] = digest, [row | new for row in rows]
            tasks[task] = config
        entries.append(Entry(STUDY, run, "direct", tasks, "extrap -m seed=range(0,1000)"))
    folder = results / STUDY
    folder.mkdir(parents=True)
    packed.write(folder / PACKED, {name: sheets[name] for name in in_order(sheets)})
    study.write(entries)
    return sum(len(rows) for _, rows in sheets.values())


def timed(command: list[str]) -> tuple[float, float, float]:
    """Returns seconds on the wall and of the processor, and the most GB of memory so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    here = {"PYTHONPATH": str(Path(__file__).parents[1])}
    whole = [sys.executable, "-m", "extrap", *command, STUDY]
    subprocess.run(whole, env=os.environ | here, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent, after.ru_maxrss / 1e6


def main(jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = write(Path("results"), jobs)
        print(f"{jobs} jobs, {rows} rows")
        for command in COMMANDS:
            wall, spent, memory = timed(command)
            print(
                f"extrap {' '.join(command)}: {wall:.1f} s on the wall, {spent:.1f} s of the "
                f"processor; at most {memory:.2f} GB until now",
                flush=True,
            )
        os.chdir("/")


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["10000"])[0]))
