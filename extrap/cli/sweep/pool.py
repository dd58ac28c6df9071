"""Runs jobs, a bounded number side by side, and stops them cleanly."""

import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.utils.errors import UserError

TICK = 0.1  # seconds between two looks at the running jobs
GRACE = 60.0  # seconds that interrupted jobs have to finish what they are writing


def run(jobs: list[Process], n_jobs: int, status: Status) -> None:
    """Starts the waiting ones of `jobs` in order, at most `n_jobs` at a time, and returns when the
    last has ended.

    What happens to one job stays with that job. Ctrl-C (or SIGTERM, or a closed terminal)
    interrupts the running jobs, waits for them to finish cleanly, at most `GRACE` seconds or until
    the next signal, and raises KeyboardInterrupt.
    """
    waiting = deque(job for job in jobs if job.state is State.WAITING)
    running: list[Process] = []
    with _stop_signals() as stops:
        try:
            while (waiting or running) and not stops:
                while len(running) < n_jobs and (job := _next(waiting, running, status)):
                    job.began, job.state = time.monotonic(), State.RUNNING
                    status.started(job)  # before it can say anything, or end
                    job.start()
                    running.append(job)
                _poll(running, status)
                waiting += [job for job in running if job.state is State.HELD]
                running = [job for job in running if job.state is State.RUNNING]
                time.sleep(TICK)
            if stops:
                _wind_down(running, stops, status)
                raise KeyboardInterrupt
        finally:
            for job in running:
                job.kill()
            status.close()


def _next(waiting: deque[Process], running: list[Process], status: Status) -> Process | None:
    """Returns the first job to start now. A job that another process works on comes later."""
    for _ in range(len(waiting)):
        job = waiting.popleft()
        before, job.state = job.state, _now(job, running)
        if job.state is State.WAITING:
            return job
        if job.state is State.HELD:
            waiting.append(job)
        if job.state is not before:
            status.ended(job)
    return None


def _now(job: Process, running: list[Process]) -> State:
    """Returns the state of a job right before it starts: other sweeps may have started or finished
    it, and a running job may train the same run. An error fails this job alone.
    """
    entry = job.entry
    try:
        trained = entry.folder.trained
        if entry.busy() or (not trained and entry.run in [other.entry.run for other in running]):
            return State.HELD
        return State.WAITING if entry.missing() else State.SKIPPED
    except Exception as error:
        kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
        job.fail(kind + " ".join(str(error).split()))
        return State.FAILED


def _poll(running: list[Process], status: Status) -> None:
    for job in running:
        if job.ended():
            if job.state is State.FAILED:
                job.fail(job.reason)
            status.ended(job)
    status.tick()


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
