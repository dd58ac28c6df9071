"""The program `tiny` with jobs that have run folders, locks and a study."""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import tiny
from hydra.core.config_store import ConfigStore

from extrap.cli.app import Program, main
from extrap.runs.folder import Named
from extrap.runs.study import Entry
from extrap.utils import lock, progress


@dataclass
class Config(tiny.Config):
    study: str = "s"
    name: str = "a"


def run_of(cfg: SimpleNamespace) -> Named:
    return Named(f"{cfg.name}-s{cfg.seed}")


def run(cfg: SimpleNamespace) -> None:
    try:
        alone(cfg)
    except lock.Held as holder:
        progress.end("held", str(holder))


def alone(cfg: SimpleNamespace) -> None:
    this = run_of(cfg)
    with this.alone(wait=progress.FILE not in os.environ):
        if (this.folder / "done.txt").exists():
            progress.end("skipped", "nothing left to do")
            return
        this.fail(None)
        tiny.say(f"start {this.name}")
        try:
            act(cfg.act, this)
        finally:
            tiny.say(f"end {this.name}")
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


class Work(tiny.Work):
    def finished(self) -> bool:
        return (run_of(self.cfg).folder / "done.txt").exists()

    def check(self) -> None:
        return None

    def entry(self, command: str) -> Entry:
        return Entry(self.cfg.study, run_of(self.cfg).name, "direct", {}, command)

    def run(self) -> None:
        run(self.cfg)


if __name__ == "__main__":
    ConfigStore.instance().store(name="tiny_schema", node=Config)
    main(Program(Work, command=("worker",), conf=str(Path(__file__).parent / "conf")))
