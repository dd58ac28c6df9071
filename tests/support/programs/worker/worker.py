"""A program framed like extrap whose jobs have run folders, locks and a study, and only write down
that they were there.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig

from extrap.cli.app import Program, main
from extrap.cli.sweep import process
from extrap.runs.folder import Named
from extrap.runs.study import Entry
from extrap.utils import lock, progress


@dataclass
class Config:
    study: str = "s"
    name: str = "a"
    seed: int = 0
    threads: int = 1
    act: str = "work"


def run_of(cfg: DictConfig) -> Named:
    return Named(f"{cfg.name}-s{cfg.seed}")


def say(line: str) -> None:
    with open("events.txt", "a", encoding="utf-8") as events:
        events.write(f"{line}\n")


def finished(cfg: DictConfig) -> bool:
    return (run_of(cfg).folder / "done.txt").exists()


def entry(cfg: DictConfig, command: str) -> Entry:
    return Entry(cfg.study, run_of(cfg).name, "direct", {}, command)


def run(cfg: DictConfig) -> None:
    try:
        alone(cfg)
    except lock.Held as holder:
        progress.held(str(holder))


def alone(cfg: DictConfig) -> None:
    this = run_of(cfg)
    with this.alone(wait=progress.FILE not in os.environ):
        if finished(cfg):
            progress.skipped("nothing left to do")
            return
        this.fail(None)
        say(f"start {this.name}")
        try:
            act(cfg.act, this)
        finally:
            say(f"end {this.name}")
        (this.folder / "done.txt").touch()


def act(name: str, this: Named) -> None:
    """once: hangs the first time, works the second."""
    first = this.folder / "first.txt"
    match name:
        case "slow":
            time.sleep(0.5)
        case "once" if not first.exists():
            first.touch()
            time.sleep(60)
        case "exit":
            print("last words")
            sys.exit(3)


class Clock:
    """Time that stands still until a job hangs, is then `jump` seconds later, and goes on as
    everywhere.
    """

    strftime = staticmethod(time.strftime)

    def __init__(self, jump: float) -> None:
        self.jump, self.since = jump, 0.0

    def monotonic(self) -> float:
        if not self.since and any(Path("runs").glob("*/first.txt")):
            self.since = time.monotonic()
        return self.jump + time.monotonic() - self.since if self.since else 0.0


if jump := os.environ.get("WORKER_JUMP"):
    process.time = Clock(float(jump))  # type: ignore[assignment]


@dataclass
class Work:
    cfg: DictConfig

    def finished(self) -> bool:
        return finished(self.cfg)

    def check(self) -> None:
        return None

    def entry(self, command: str) -> Entry:
        return entry(self.cfg, command)

    def run(self) -> None:
        run(self.cfg)


ConfigStore.instance().store(name="worker_schema", node=Config)

if __name__ == "__main__":
    main(Program(Work, command=("worker",), conf=str(Path(__file__).parent / "conf")))
