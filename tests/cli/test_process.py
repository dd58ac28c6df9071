"""One job as a process: failed, held by another process, finished by another sweep meanwhile."""

import os
import signal
import threading
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest

from extrap.cli.sweep import pool
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.runs import study
from extrap.runs.folder import Named
from extrap.runs.study import Entry, standing
from extrap.utils.errors import UserError
from tests.support.program import heeding, python, until


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*jobs: Process, n_jobs: int = 1) -> None:
    pool.run(list(jobs), n_jobs, Status(list(jobs)))


def job(script: str, name: str = "a", entry: type[Entry] = Entry) -> Process:
    return Process(name, ["sh", "-c", script], entry("s", name, "direct", {}))


class Faulty(Entry):
    def missing(self):
        raise UserError("state.json: a run folder of version 3")


class Broken(Entry):
    def missing(self):
        return 1 / 0


def test_output_of_every_attempt_is_kept_and_the_reason_is_of_the_last():
    first, second = job("echo one; exit 3"), job("exit 4")
    run(first)
    run(second)
    assert (first.reason, second.reason) == ("exit code 3: one", "exit code 4")
    assert [line.split()[0] for line in first.entry.log.read_text().splitlines()] == [
        "---",
        "one",
        "---",
    ]


def test_a_path_may_be_any_bytes():
    done = Process("path=t\udcff", ["true"], Entry("s", "a", "direct", {}))
    run(done)
    assert done.state is State.DONE and r"path=t\udcff" in done.entry.log.read_text()


def test_a_job_that_cannot_be_looked_at_fails_and_no_other():
    kinds = {"a": Entry, "b": Faulty, "c": Broken, "d": Entry}
    jobs = [job("sleep 0.2", name, kind) for name, kind in kinds.items()]
    run(*jobs)
    assert [j.state for j in jobs] == [State.DONE, State.FAILED, State.FAILED, State.DONE]
    assert jobs[1].reason == "state.json: a run folder of version 3"
    assert jobs[1].entry.folder.failure("direct") == jobs[1].reason
    assert jobs[2].reason == "ZeroDivisionError: division by zero"


def test_a_job_waits_for_the_one_that_trains_its_run(monkeypatch):
    """It would take a place, and wait there for the lock of the run."""
    waiting, other, same = job(""), job("", "b"), job("")
    assert pool._now(waiting, [other]) is State.WAITING
    assert pool._now(waiting, [other, same]) is State.HELD
    monkeypatch.setattr(Named, "trained", True)
    assert pool._now(waiting, [same]) is State.SKIPPED


def test_a_job_waits_for_whoever_trains_its_parent(monkeypatch):
    """Tuned runs of a new parent would take a GPU each, and wait there while one trains it."""
    monkeypatch.setattr(Entry, "missing", lambda entry: ["train"])
    parent = job("", "p")
    pi, yarn = (Process("", [], Entry("s", n, "direct", {}, parent="p")) for n in ("pi", "yarn"))
    assert pool._now(pi, [job("", "b")]) is State.WAITING
    assert [pool._now(pi, [other]) for other in (yarn, parent)] == [State.HELD] * 2
    assert pool._now(parent, [pi]) is State.HELD
    with parent.entry.folder.alone():
        assert pool._now(pi, []) is State.HELD
        entry = replace(pi.entry)
        entry.write()
        assert study.entries("s") == [entry] and standing(entry).state is study.State.MISSING
    monkeypatch.setattr(Named, "trained", property(lambda run: run.name == "p"))
    assert pool._now(pi, [yarn]) is State.WAITING


def test_jobs_of_one_run_and_extension_follow_each_other(monkeypatch):
    """Side by side they would report into one file: a refused one would count as done."""
    monkeypatch.setattr(Entry, "missing", lambda entry: [*entry.tasks])
    monkeypatch.setattr(Named, "trained", True)
    kv, nll, far = (
        Process("", [], Entry("s", "a", extension, {task: "x"}))
        for extension, task in (("direct", "kv"), ("direct", "nll"), ("pi", "kv"))
    )
    assert pool._now(nll, [kv]) is State.HELD
    assert pool._now(far, [kv]) is State.WAITING


def test_processes_of_equal_ids_report_into_files_of_their_own():
    """Pods of one image on one disk: a refused job would read the report of the one at work."""
    code = "import os; os.getpid = lambda: 7; from extrap.runs.study import Entry; "
    code += "print(Entry('s', 'a', 'direct', {}).report)"
    first, second = (Path(python("-c", code).stdout.strip()) for _ in range(2))
    assert first != second
    first.parent.mkdir(parents=True)
    first.write_text('{"phase": "kv"}')
    assert job("").progress() == {"phase": "kv"}


def test_what_another_process_holds_comes_later_and_what_it_finished_is_skipped(capsys):
    looks = iter([["kv"], ["kv"], []])

    class Busy(Entry):
        def busy(self):
            return True

        def missing(self):
            return next(looks)

    held, free = job("exit 1", "a", Busy), job("true", "b")
    run(held, free)
    assert (held.state, free.state) == (State.SKIPPED, State.DONE)
    said = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == ["[1/2] held a", "[2/2] start b", "[2/2] done b", "[1/2] skipped a"]


def test_what_another_sweep_began_since_it_started_comes_later(tmp_path, capsys):
    late = job(
        f"[ -e {tmp_path}/again ] && exit; touch {tmp_path}/again; "
        """echo '{"phase": "held"}' > $EXTRAP_PROGRESS""",
    )
    run(late, job("true", "b"))
    assert late.state is State.DONE
    said = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "[1/2] start a",
        "[1/2] held a",
        "[2/2] start b",
        "[2/2] done b",
        "[1/2] start a",
        "[1/2] done a",
    ]


@pytest.mark.parametrize(("begun", "end"), [("", "SIGKILL"), ("train", "SIGINT")])
def test_an_interrupt_lets_a_job_at_work_finish_and_ends_one_that_has_not_begun(capsys, begun, end):
    says = f"""echo '{{"phase": "{begun}"}}' > $EXTRAP_PROGRESS;""" if begun else ""
    started = job(f"{says} kill -INT $PPID; while true; do sleep 0.05; done")
    with heeding(signal.SIGINT), pytest.raises(KeyboardInterrupt):
        run(started)
    assert started.reason.startswith(f"killed by {end}")
    assert "extrap: waiting for the jobs to finish" in capsys.readouterr().err


def test_a_signal_handler_ends_a_job_whatever_it_interrupts():
    """It may interrupt `poll` of subprocess, whose lock nobody else gives back."""
    running = job("echo up; exec sleep 60")
    with heeding(signal.SIGINT):
        running.start()
    until(lambda: b"up" in running.entry.log.read_bytes())
    lock = running._process._waitpid_lock
    lock.acquire()
    rescue = threading.Timer(20, lock.release)  # else a failure would wait for ever
    rescue.start()
    running.end(patience=5)
    assert lock.locked()
    rescue.cancel()
    lock.release()
    running._process.wait()
    assert running.ended() and running.reason == "killed by SIGINT"


def test_a_sweep_goes_elsewhere_after_a_job_of_another(monkeypatch):
    """Else two would walk the same locks one behind the other."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    firsts = []
    for held in (False, True):
        busy = {"0"} if held else set()
        monkeypatch.setattr(Entry, "busy", lambda entry, busy=busy: entry.run in busy)
        waiting = deque(job("", str(n)) for n in range(1000))
        shown = Status(list(waiting))
        firsts.append([int(pool._next(waiting, [], shown, None).entry.run) for _ in range(3)])
    assert firsts[0] == [0, 1, 2]
    place = firsts[1][0]
    assert place > 1 and firsts[1] == [place, place + 1, place + 2]
