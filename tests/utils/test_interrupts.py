"""Ctrl-C while large libraries are imported."""

import signal
import threading

import pytest

from extrap.cli import program
from extrap.cli.composed import Composed
from extrap.utils.interrupts import held_back
from tests.support.program import heeding


def test_an_interruption_is_answered_when_what_must_be_whole_is() -> None:
    done = []

    def interrupted() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with heeding(signal.SIGINT):
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert done


def test_it_is_answered_by_whoever_would_have() -> None:
    asked = []
    with heeding(signal.SIGINT):
        signal.signal(signal.SIGINT, lambda *_: asked.append("theirs"))
        with held_back():
            signal.raise_signal(signal.SIGINT)
            assert not asked
    assert asked == ["theirs"]


@pytest.mark.parametrize("deaf", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_deaf_process_stays_deaf_and_other_threads_have_no_say(deaf: signal.Handlers) -> None:
    with heeding(signal.SIGINT):
        signal.signal(signal.SIGINT, deaf)
        with held_back():
            assert signal.getsignal(signal.SIGINT) is deaf
    errors = []

    def elsewhere() -> None:
        try:
            with held_back():
                pass
        except ValueError as error:
            errors.append(error)

    (thread := threading.Thread(target=elsewhere)).start()
    thread.join()
    assert not errors


def test_a_job_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    read, one = [], Composed({}, {}, [], sweep=False)

    def job(cfg: object) -> None:
        signal.raise_signal(signal.SIGINT)
        read.append(cfg)

    monkeypatch.setattr(program, "job", job)
    with heeding(signal.SIGINT), pytest.raises(KeyboardInterrupt):
        program.prepare(one)
    assert read == [one]
