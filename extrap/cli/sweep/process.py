"""One job of a sweep as a process in a session of its own; the log of its run keeps its output."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from extrap.cli.sweep import machine
from extrap.cli.sweep.machine import Device
from extrap.runs.folder import read_json
from extrap.runs.study import Entry
from extrap.runs.study import progress as newest
from extrap.utils import progress
from extrap.utils.atomic import make_folder, no_link
from extrap.utils.errors import UserError

LAST = 2**16
"""Bytes of a log in which the last line of a job is looked for."""

SWEEP = "EXTRAP_SWEEP"
"""In the environment of a job: the process id of the sweep."""

PR_SET_PDEATHSIG = 1
HEAD = "--- "  # begins the part of a log that one attempt writes


class State(Enum):
    WAITING = "waiting"
    # another process works on the same run: one of another sweep, or of a job before this one
    HELD = "held"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass
class Process:
    """A job of a sweep; its command adds output to the log of its run.

    label      its name for people: the words in which jobs differ
    entry      its place in a study
    overrides  its words of the command line
    threads    the cores that each of its processes takes
    processes  on each node
    workers    more processes, which draw batches for each of them, with a core each
    nodes      the nodes that it takes
    gpus       the GPUs that it takes on each node
    devices    the GPUs that it has; it sees no others
    save_minutes  between two checkpoints of its training, at most; None without a training
    queue      why it waits in the queue of a cluster
    before     about how many seconds earlier attempts took for what this one goes on with
    """

    label: str
    command: list[str]
    entry: Entry
    state: State = State.WAITING
    reason: str = ""
    began: float = 0.0
    seconds: float = 0.0
    overrides: list[str] = field(default_factory=list)
    threads: int = 1
    processes: int = 1
    workers: int = 0
    nodes: int = 1
    gpus: int = 0
    devices: list[Device] = field(default_factory=list)
    save_minutes: float | None = None
    queue: str = ""
    before: float = 0.0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _printed: int = 0

    @property
    def cores(self) -> int:
        """The cores that it takes on each node."""
        return self.processes * (self.threads + self.workers)

    @property
    def where(self) -> str:
        """The names of its devices, "" for a processor."""
        return ", ".join(device.name for device in self.devices)

    def fail(self, reason: str) -> None:
        """Fails the job, and notes the reason in its study."""
        self.state, self.reason = State.FAILED, reason
        self.entry.fail(reason)

    def start(self) -> None:
        self.began, self.state, self.reason = time.monotonic(), State.RUNNING, ""
        environment = os.environ | {
            progress.FILE: str(self.entry.report.absolute()),
            progress.DEVICE: self.where,
            SWEEP: str(os.getpid()),
            "PYTHONUNBUFFERED": "1",
        }
        environment |= machine.environment(self.devices)
        try:
            make_folder(self.entry.log.parent)
            with open(self.entry.log, "ab", opener=no_link) as log:
                head = f"{HEAD}{time.strftime('%Y-%m-%d %H:%M:%S')} {self.label}\n"
                log.write(head.encode(errors="backslashreplace"))  # a path may be any bytes
                log.flush()
                self._printed = log.tell()
                # Nothing to read from, so that nothing waits for an answer; a session of its own,
                # so that Ctrl-C comes from here only.
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, UserError) as error:
            self.state, self.reason = State.FAILED, f"could not start: {error}"

    def ended(self) -> bool:
        """True if the process is over; its state, reason and duration are then set."""
        code = self._process.poll() if self._process is not None else None
        if self.state is State.RUNNING and code is not None:
            self.seconds = time.monotonic() - self.began
            report = self.progress()
            if code in (0, progress.LEFT):
                ends = {"skipped": State.SKIPPED, "held": State.HELD}
                self.state = ends.get(str(report.get("phase")), State.DONE)
            else:
                self.state, self.reason = State.FAILED, self._why(code, report)
            self.entry.report.unlink(missing_ok=True)
        return self.state is not State.RUNNING

    def interrupt(self) -> None:
        """Sends Ctrl-C to the job and its processes."""
        self._signal(signal.SIGINT)

    def end(self, patience: float) -> None:
        """Sends Ctrl-C to the job and its processes, and kills them after `patience` seconds.

        A signal handler may call it in the middle of `ended`: it takes no lock of subprocess.
        """
        if self._process is None or self._process.returncode is not None:
            return
        job, until = self._process.pid, time.monotonic() + patience
        with suppress(ProcessLookupError, ChildProcessError):  # `ended` has just seen its end
            os.killpg(job, signal.SIGINT)
            look = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while os.waitid(os.P_PID, job, look) is None and time.monotonic() < until:
                time.sleep(0.1)
            os.killpg(job, signal.SIGKILL)

    def kill(self) -> None:
        """Ends the job at once, if it still runs."""
        if not self.ended() and self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self.ended()

    def progress(self) -> dict[str, Any]:
        """Returns the last report of the job, with `phase`, `done`, `total` and `note`; empty
        before the first. A job without a process of its own here runs on another machine.
        """
        return newest(self.entry) if self._process is None else read_json(self.entry.report)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _why(self, code: int, report: dict[str, Any]) -> str:
        if report.get("phase") == "failed" and report["note"]:
            return str(report["note"]).splitlines()[0]
        if code < 0:
            guess = " (out of memory?)" if -code == signal.SIGKILL else ""
            return f"killed by {signal.Signals(-code).name}{guess}"
        try:
            with self.entry.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._printed, size - LAST))
                printed = log.read().decode(errors="replace")
        except OSError:
            printed = ""
        last = next((line.strip() for line in reversed(printed.splitlines()) if line.strip()), "")
        return f"exit code {code}" + (f": {last}" if last else "")


def join() -> None:
    """Makes this process a job of the sweep that started it, if a sweep did.

    A job dies with its sweep, however that dies (Linux only), and Ctrl-C reaches it even if a shell
    made the sweep deaf to Ctrl-C.
    """
    if (sweep := os.environ.pop(SWEEP, None)) is None:
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A cluster warns all processes with it; the process that started this one answers.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if sweep != str(os.getppid()):  # it died before this process could ask to die with it
            line = f"extrap: {SWEEP}={sweep}: the sweep of this job has ended"
            raise SystemExit(f"{line}; unset {SWEEP} to start without one")
