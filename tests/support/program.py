"""The programs of `programs/tiny` with extrap's Hydra settings, each in its own folder."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extrap.utils.paths import conf_dir

REPOSITORY = Path(__file__).parents[2]
THEIRS = ("EXTRAP_", "HYDRA_", "SLURM_", "SUBMITIT_")


@contextmanager
def heeding(*numbers: signal.Signals) -> Iterator[None]:
    """Processes started inside heed these signals even if the tests themselves, started in the
    background or under nohup, do not.
    """
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def python(
    *words: str, cwd: Path | None = None, says: str = "", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs Python with these words, and extrap of this repository on its path. says: the text that
    it reads from stdin.
    """
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
        input=says,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def typed(patch: pytest.MonkeyPatch, *words: str) -> None:
    """Runs `extrap <words>` in this process, which keeps its environment and import path."""
    from extrap.cli.commands import main

    patch.setattr(sys, "argv", ["extrap", *words])
    patch.setattr(sys, "path", list(sys.path))
    for name in ("HYDRA_FULL_ERROR", "OMP_NUM_THREADS"):  # the program sets them for its process
        patch.setenv(name, "1")
    main()


@dataclass(frozen=True)
class Program:
    """A program whose source lies in `source` and whose processes run in `work`."""

    name: str
    source: Path
    work: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def start(self, *words: str, **options: object) -> "subprocess.Popen[str]":
        """Starts a process. options: of Popen, in place of pipes for stdout and stderr."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(THEIRS)}
        path = f"{self.source}{os.pathsep}{REPOSITORY}"
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        command = [sys.executable, "-P", "-m", self.name, *words]
        with heeding(signal.SIGINT, signal.SIGHUP):
            process = subprocess.Popen(  # type: ignore[call-overload]
                command,
                cwd=self.work,
                env=kept | {"PYTHONPATH": path} | self.environment,
                text=True,
                **(pipes | options),
            )
        self.started.append(process)
        return process

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def end(self) -> None:
        """Leaves no process and no open pipe behind a test that failed half-way."""
        for process in self.started:
            process.kill()
            process.communicate()

    def events(self) -> list[str]:
        """Returns the lines that jobs wrote."""
        file = self.work / "events.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def installed(name: str, folder: Path) -> Iterator[Program]:
    """Yields the program with its own copy of the source; ends its processes."""
    shutil.copytree(Path(__file__).parent / "programs" / "tiny", folder / "source")
    shutil.copytree(Path(conf_dir()) / "hydra", folder / "source" / "conf" / "hydra")
    (folder / "work").mkdir()
    program = Program(name, folder / "source", folder / "work")
    yield program
    program.end()


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Program]:
    """Jobs that only write who started and ended, or end as their option `act` says."""
    yield from installed("tiny", tmp_path)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Program]:
    """Jobs that have run folders, locks and a study."""
    yield from installed("worker", tmp_path)


def until(true: Callable[[], bool], seconds: float = 300) -> None:
    """Waits for a condition. Raises AssertionError if it does not come true in time."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)
