"""The tiny program of `tests/support/programs/tiny` with extrap's own Hydra settings, and a folder
to run it in.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from extrap.utils.paths import conf_dir

REPOSITORY = Path(__file__).parents[2]


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


@dataclass(frozen=True)
class Tiny:
    """Runs the tiny program in the empty folder `work`."""

    source: Path
    work: Path

    def start(self, *words: str, **options: object) -> "subprocess.Popen[str]":
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("EXTRAP_", "HYDRA_"))
        }
        environment["PYTHONPATH"] = f"{self.source}{os.pathsep}{REPOSITORY}"
        command = [sys.executable, "-m", "tiny", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        with heeding(signal.SIGINT, signal.SIGHUP):
            return subprocess.Popen(command, cwd=self.work, env=environment, text=True, **pipes)  # type: ignore[call-overload, no-any-return]

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def events(self) -> list[str]:
        file = self.work / "events.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    shutil.copytree(Path(__file__).parent / "programs" / "tiny", tmp_path / "source")
    shutil.copytree(Path(conf_dir()) / "hydra", tmp_path / "source" / "conf" / "hydra")
    (tmp_path / "work").mkdir()
    return Tiny(tmp_path / "source", tmp_path / "work")
