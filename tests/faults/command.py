"""`extrap <words>` in this process: up to the moment when work would begin, which no mistake may
reach.

`whole` is the program as it is started, `shared` what it checks of one job.
"""

from collections.abc import Callable, Sequence

import pytest

from extrap.cli.composed import composed
from extrap.cli.program import prepare
from extrap.cli.shared import reported
from extrap.cli.sweep.process import Process
from extrap.runs.experiment import Experiment
from tests.support.program import typed


def began(*args: object, **options: object) -> None:
    raise AssertionError("work began")


def whole(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Process, "start", began)  # nor does a sweep begin
    monkeypatch.setattr(Experiment, "run", began)
    typed(monkeypatch, *words)


def shared(words: Sequence[str]) -> None:
    with reported():
        prepare(composed(words)).check()
    began()


def told(call: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> tuple[object, list[str]]:
    """Exit code and the lines on stderr of a call that ends in a mistake."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        call()
    out, err = capsys.readouterr()
    assert out == ""
    return end.value.code, err.splitlines()
