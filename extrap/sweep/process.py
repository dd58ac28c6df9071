"""One job of a sweep as a process: in a session of its own, output in a log file, end told in one line."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from extrap import progress
from extrap.sweep.join import SWEEP


class State(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass
class Process:
    """`command` is run with its output going to `log`; `label` is how people tell it from the other jobs."""

    label: str
    command: list[str]
    log: Path
    state: State
    reason: str = ""
    began: float = 0.0
    seconds: float = 0.0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def _report(self) -> Path:
        # The sweep's process id keeps two sweeps over the same study out of each other's files.
        return self.log.with_name(f".{self.log.stem}.{os.getpid()}.json")

    def start(self) -> None:
        self.began, self.state = time.monotonic(), State.RUNNING
        environment = os.environ | {progress.FILE: str(self._report.absolute()), SWEEP: str(os.getpid()), "PYTHONUNBUFFERED": "1"}
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.unlink(missing_ok=True)
            with open(self.log, "wb") as log:
                # Nothing to read from, so that nothing waits for an answer; a session of its own, so that Ctrl-C comes from here only.
                self._process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
                )
        except OSError as error:
            self.state, self.reason = State.FAILED, f"could not start: {error}"

    def ended(self) -> bool:
        """Whether the process is over; its state, reason and duration are then known."""
        if self.state is State.RUNNING and self._process is not None and self._process.poll() is not None:
            self._conclude(self._process.returncode)
        return self.state is not State.RUNNING

    def interrupt(self) -> None:
        """Ctrl-C for the job and all that it started."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends the job at once, if it still runs."""
        if not self.ended() and self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self.ended()

    def progress(self) -> dict[str, Any]:
        """What the job last said of itself: `phase`, `done`, `total`, `note`; empty if it said nothing yet."""
        try:
            return dict(json.loads(self._report.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _conclude(self, code: int) -> None:
        said = self.progress()
        self.seconds = time.monotonic() - self.began
        if code == 0:
            self.state = State.SKIPPED if said.get("phase") == "skipped" else State.DONE
        else:
            self.state = State.FAILED
            self.reason = said["note"].splitlines()[0] if said.get("phase") == "failed" and said["note"] else self._guess(code)
        self._report.unlink(missing_ok=True)

    def _guess(self, code: int) -> str:
        if code < 0:
            name = signal.Signals(-code).name
            return f"killed by {name}" + (" (out of memory?)" if -code == signal.SIGKILL else "")
        try:
            lines = [line.strip() for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        except OSError:
            lines = []
        return f"exit code {code}" + (f": {lines[-1]}" if lines else "")
