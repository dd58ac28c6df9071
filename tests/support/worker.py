"""The worker program with extrap's own Hydra settings, and an empty folder to run it in."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extrap.utils.paths import conf_dir

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Worker:
    source: Path
    work: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("EXTRAP_", "HYDRA_", "SLURM_", "SUBMITIT_"))
        }
        environment = (
            kept | {"PYTHONPATH": f"{self.source}{os.pathsep}{REPOSITORY}"} | self.environment
        )
        command = [sys.executable, "-m", "worker", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        self.started.append(
            subprocess.Popen(command, cwd=self.work, env=environment, text=True, **pipes)
        )  # type: ignore[call-overload]
        return self.started[-1]

    def end(self) -> None:
        """Leaves no process and no open pipe behind a test that failed half-way."""
        for process in self.started:
            process.kill()
            process.communicate()

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def events(self) -> list[str]:
        file = self.work / "events.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    shutil.copytree(Path(__file__).parent / "programs" / "worker", tmp_path / "source")
    shutil.copytree(Path(conf_dir()) / "hydra", tmp_path / "source" / "conf" / "hydra")
    (tmp_path / "work").mkdir()
    worker = Worker(tmp_path / "source", tmp_path / "work")
    yield worker
    worker.end()


def until(true: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)
