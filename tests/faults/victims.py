"""What `torture` kills: a tiny study in a forked process."""

import io
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from extrap import figures
from extrap.cli import plot, program
from extrap.runs import evaluate, train
from extrap.utils import files as atomic
from tests.support.jobs import TINY

SCHEMES = ("rope", "t5")
OPTIONS = [*TINY, "study=torture", "data/corpus=files", "data.corpus.path=text.txt"]
FIGURES = ["loss_length", "training_curves"]


class Forked:
    """Copies of this process, which has imported everything: a start costs nothing, so that many
    kills fit into a minute. writes: writes of an undisturbed run.
    """

    def __init__(self) -> None:
        self.writes = 0
        assert train and figures.available()  # imported here, once
        said = evaluate.commit()
        evaluate.commit = lambda: said  # a commit made meanwhile is no fault of what is tested

    def attempt(self, folder: Path, after: float | None, at: int | None) -> int | None:
        """Runs the commands in a folder; its exit code, or None where it was killed `after` seconds
        or at its write number `at`.
        """
        near, far = os.pipe()
        if (pid := os.fork()) == 0:
            _child(folder, at, far)
        os.close(far)
        code = _wait(pid, after)
        with open(near, "rb") as pipe:
            written = pipe.read()
        if after is None and at is None:
            self.writes = int(written)
        return code


def _wait(pid: int, after: float | None) -> int | None:
    """Returns the exit code of a process, or None if it was killed; kills it after some seconds."""
    end = None if after is None else time.monotonic() + after
    while (status := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if end is not None and time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
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
