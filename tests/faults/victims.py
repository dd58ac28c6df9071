"""What `torture` kills: a tiny study, in a forked process or as a sweep of processes."""

import io
import os
import shlex
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from extrap import figures
from extrap.cli import plot, program
from extrap.runs import evaluate, train
from extrap.utils import files as atomic
from tests.support.jobs import TINY

REPOSITORY = Path(__file__).parents[2]
SCHEMES = ("rope", "t5")
OPTIONS = [*TINY, "study=torture", "data/corpus=files", "data.corpus.path=text.txt"]
FIGURES = ["loss_length", "training_curves"]


class Victim(Protocol):
    """writes: writes of an undisturbed run; 0 if no kill can be placed at one."""

    name: str
    writes: int

    def attempt(self, folder: Path, after: float | None, at: int | None) -> int | None:
        """Runs the commands in a folder; its exit code, or None where it was killed `after` seconds
        or at its write number `at`.
        """


class Forked:
    """Copies of this process, which has imported everything: a start costs nothing, so that many
    kills fit into a minute.
    """

    name = "one process"

    def __init__(self) -> None:
        self.writes = 0
        assert train and figures.available()  # imported here, once
        said = evaluate.commit()
        evaluate.commit = lambda: said  # a commit made meanwhile is no fault of what is tested

    def attempt(self, folder: Path, after: float | None, at: int | None) -> int | None:
        near, far = os.pipe()
        if (pid := os.fork()) == 0:
            _child(folder, at, far)
        os.close(far)
        code = _wait(
            lambda: os.waitpid(pid, os.WNOHANG), lambda: os.kill(pid, signal.SIGKILL), after
        )
        with open(near, "rb") as pipe:
            written = pipe.read()
        if after is None and at is None:
            self.writes = int(written)
        return code


class Sweep:
    """`extrap -m` and its jobs; jobs have groups of their own and die with the sweep."""

    name, writes = "a sweep", 0

    def attempt(self, folder: Path, after: float | None, at: int | None) -> int | None:
        words = [sys.executable, "-m", "extrap", "-m", f"scheme={','.join(SCHEMES)}", *OPTIONS]
        draw = [sys.executable, "-m", "extrap", "plot", "torture", *FIGURES]
        script = f"{shlex.join(words)} && {shlex.join(draw)}"
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
        with open(folder / "log", "ab") as log:
            group = subprocess.Popen(
                ["sh", "-c", script],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return _wait(lambda: _polled(group), lambda: os.killpg(group.pid, signal.SIGKILL), after)


def _polled(process: "subprocess.Popen[bytes]") -> tuple[int, int]:
    code = process.poll()
    return (0, 0) if code is None else (process.pid, -code if code < 0 else code << 8)


def _wait(
    look: Callable[[], tuple[int, int]], kill: Callable[[], Any], after: float | None
) -> int | None:
    end = None if after is None else time.monotonic() + after
    while (status := look())[0] == 0:
        if end is not None and time.monotonic() > end:
            kill()
            end = None
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(status[1])
    return None if code == -signal.SIGKILL else code


def _child(folder: Path, at: int | None, pipe: int) -> None:
    code = 1
    try:
        os.chdir(folder)
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        count = _arm(at)
        for scheme in SCHEMES:
            sys.argv = ["extrap", f"scheme={scheme}", *OPTIONS]
            program.main()
        plot.main(["torture", *FIGURES])
        os.write(pipe, str(len(count)).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _arm(at: int | None) -> list[None]:
    """Counts the moments of writing in a list; at number `at` this process is killed."""
    passed: list[None] = []
    fsync, replace = os.fsync, os.replace

    def moment() -> None:
        if len(passed) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        passed.append(None)

    class Halting(io.BufferedWriter):
        def write(self, content: Any) -> int:
            half = len(content) // 2
            super().write(content[:half])
            self.flush()
            moment()
            return half + super().write(content[half:])

    def around(call: Callable[..., None]) -> Callable[..., None]:
        def called(*args: Any) -> None:
            moment()
            call(*args)
            moment()

        return called

    os.fsync, os.replace = around(fsync), around(replace)
    atomic.open = lambda path, mode: Halting(io.FileIO(path, mode))  # type: ignore[attr-defined]
    return passed
