"""A program framed like extrap whose jobs only write who started and ended, or end in the way their
option `act` says.
"""

import fcntl
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydra.core.config_store import ConfigStore

from extrap.cli.app import Program, main
from extrap.cli.composed import Composed
from extrap.cli.sweep.grid import Sweep
from extrap.runs.study import Entry
from extrap.utils import progress
from extrap.utils.errors import NotApplicable, UserError


@dataclass
class Config:
    scheme: Any = None
    data: Any = None
    seed: int = 0
    lr: float = 0.1
    flag: bool = False
    threads: int = 1
    act: str = "work"
    sweep: Sweep = field(default_factory=Sweep)
    name: str = "${scheme.name}-s${seed}"


def say(line: str) -> None:
    with open("events.txt", "a", encoding="utf-8") as events:
        events.write(f"{line}\n")


def wait(done: Any) -> None:
    end = time.monotonic() + 120
    while not done():
        if time.monotonic() > end:
            raise TimeoutError("nobody came")
        time.sleep(0.01)


def check(cfg: SimpleNamespace) -> None:
    if cfg.seed < 0:
        raise UserError(f"seed={cfg.seed}: must be at least 0")
    if cfg.act == "senseless":
        problem = f"makes no sense on scheme={cfg.scheme['name']}"
        raise NotApplicable("act", cfg.act, problem, lambda: "work does")
    if cfg.act == "bug":
        print(cfg.nothing_of_that_name)


def run(cfg: SimpleNamespace) -> None:
    say(f"start {cfg.name}")
    print(
        f"threads {os.environ['OMP_NUM_THREADS']}, heavy modules "
        f"{[m for m in ('torch', 'numpy') if m in sys.modules]}"
    )
    match cfg.act:
        case "raise":
            raise RuntimeError("the loss went up")
        case "mistake":
            raise UserError("data.corpus.path=/x: gone")
        case "exit":
            print("last words")
            sys.exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "skip":
            progress.end("skipped", "finished before")
        case "hang":
            hang(cfg.name)
        case "work":
            work(cfg.name)


def hang(name: str) -> None:
    held = open(f"{name}.lock", "w", encoding="utf-8")  # noqa: SIM115  given up only by the end of the process
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with progress.Progress("train", 2) as p:
            p(1)
            say(f"hold {name}")
            wait(lambda: False)
    finally:
        say(f"clean {name}")


def work(name: str) -> None:
    with progress.Progress("train", 2) as p:
        p(1)
        p(2)
    say(f"end {name}")


class Work:
    def __init__(self, composed: Composed) -> None:
        self.cfg = SimpleNamespace(**composed.values)

    def finished(self) -> bool:
        return Path(f"{self.cfg.name}.done").exists()

    def check(self) -> None:
        check(self.cfg)

    def entry(self, command: str) -> Entry:
        return Entry("s", f"{self.cfg.name}-{self.cfg.act}", "direct", {}, command)

    def run_of(self, seed: int) -> None:
        return None

    def run(self) -> None:
        run(self.cfg)


def program() -> Program:
    ConfigStore.instance().store(name="tiny_schema", node=Config)
    return Program(Work, command=("tiny",), conf=str(Path(__file__).parent / "conf"))


if __name__ == "__main__":
    main(program())
