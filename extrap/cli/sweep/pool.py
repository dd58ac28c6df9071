"""Runs jobs, a bounded number side by side, and stops them cleanly."""

import hashlib
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.cli.sweep.slots import Slots
from extrap.utils.errors import UserError

TICK = 0.1  # seconds between two looks at the running jobs
LEAST, MOST = 0.5, 10.0  # seconds between two looks at jobs of other processes; each wait is longer
GRACE = 60.0  # seconds that interrupted jobs have to finish what they are writing
MANY = 20  # waiting jobs from which on a sweep leaves their order
AGAIN = (State.HELD, State.WAITING)  # of a job that ended and is to start once more


def run(jobs: list[Process], n_jobs: int, status: Status, slots: Slots | None = None) -> None:
    """Starts the waiting ones of `jobs` in order, at most `n_jobs` at a time, each on devices of
    its own out of `slots`, and returns when the last has ended.

    What happens to one job stays with that job. Ctrl-C (or SIGTERM, or a closed terminal)
    interrupts the running jobs, waits for them to finish cleanly, at most `GRACE` seconds or until
    the next signal, and raises KeyboardInterrupt.
    """
    waiting = deque(job for job in jobs if job.state is State.WAITING)
    running: list[Process] = []
    pause, look = LEAST, 0.0
    with _stop_signals() as stops:
        try:
            while (waiting or running) and not stops:
                looks = len(running) < n_jobs and time.monotonic() >= look
                while looks and (job := _next(waiting, running, status, slots)):
                    _start(job, status)
                    running.append(job)
                    looks, pause = len(running) < n_jobs, LEAST
                if looks:  # the next job is not free
                    look, pause = time.monotonic() + pause, min(MOST, pause * 1.5)
                _poll(running, status, slots)
                waiting += [job for job in running if job.state in AGAIN]
                left = [job for job in running if job.state is State.RUNNING]
                if len(left) < len(running):
                    look = 0.0
                running = left
                time.sleep(TICK)
            if stops:
                _wind_down(running, stops, status)
                raise KeyboardInterrupt
        finally:
            for job in running:
                job.kill()
            status.close()


def _start(job: Process, status: Status) -> None:
    job.began, job.state = time.monotonic(), State.RUNNING
    status.started(job)  # before it can say anything, or end
    job.start()


def _next(
    waiting: deque[Process], running: list[Process], status: Status, slots: Slots | None
) -> Process | None:
    """Returns the first job to start now, with its devices, or None while the next one lacks them.
    A job that another process works on comes later.
    """
    for _ in range(len(waiting)):
        job = waiting.popleft()
        before, job.state = job.state, _now(job, running, slots)
        if job.state is State.WAITING:
            if (taken := slots.take(job.gpus) if slots else []) is None:
                waiting.appendleft(job)
                return None
            job.devices = taken
            return job
        if job.state is State.HELD:
            waiting.append(job)
        if job.state is State.SKIPPED or not _runs(job) & set().union(*map(_runs, running)):
            _jump(waiting)
        if job.state is not before:
            status.ended(job)
    return None


def _runs(job: Process) -> set[str]:
    return {job.entry.run, job.entry.parent} - {""}


def _jump(waiting: deque[Process]) -> None:
    """Goes on at a place of this process's own after a job of another sweep: side by side, each
    would be refused the lock of every job that another has just begun.
    """
    if len(waiting) >= MANY:
        name = f"{socket.gethostname()} {os.getpid()} {len(waiting)}"
        place = int.from_bytes(hashlib.sha256(name.encode()).digest())
        waiting.rotate(-(place % len(waiting)))


def _now(job: Process, running: list[Process], slots: Slots | None = None) -> State:
    """Returns the state of a job right before it starts: other sweeps may have started or finished
    it, and a running job may train the same run or its parent, or measure it under the same
    extension. An error fails this job alone.
    """
    entry = job.entry
    try:
        if not entry.missing():
            return State.SKIPPED
        trains = not set().union(*map(_runs, running)).isdisjoint(entry.to_train())
        reports = entry.log in [other.entry.log for other in running]  # both into one file
        if trains or reports or entry.busy():
            return State.HELD
        if slots and job.gpus > len(slots.known):
            raise UserError(f"needs {job.gpus} of the {len(slots.known)} devices that are left")
        return State.WAITING
    except Exception as error:
        kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
        job.fail(kind + " ".join(str(error).split()))
        return State.FAILED


def _poll(running: list[Process], status: Status, slots: Slots | None) -> None:
    for job in running:
        if not job.ended():
            continue
        if slots:
            slots.give(job.devices)
        if job.state is State.FAILED and not _again(job, slots):
            job.fail(job.reason)
        status.ended(job)
    status.tick()


def _again(job: Process, slots: Slots | None) -> bool:
    """True for a job that failed as one of its devices vanished: it waits for others, unless too
    few are left.
    """
    gone = slots.forget(job.devices) if slots else []
    if not gone or slots is None:
        return False
    job.reason = f"{gone[0].name} has vanished from the list of its driver"
    if len(slots.known) < job.gpus:
        return False
    job.state = State.WAITING
    return True


def _wind_down(running: list[Process], stops: list[int], status: Status) -> None:
    count, began = len(stops), time.monotonic()
    status.stopping()
    for job in running:
        if job.progress():
            job.interrupt()
        else:  # it has nothing to finish, and imports lose signals
            job.kill()
    while running and len(stops) == count and time.monotonic() - began < GRACE:
        running = [job for job in running if not job.ended()]
        time.sleep(TICK)


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Inside, signals that would end this process go into a list."""
    stops: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # Ignored signals stay ignored: under nohup a sweep outlives its terminal.
    before = {
        number: signal.signal(number, lambda number, _: stops.append(number))
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
