"""Progress in its three places: a sweep's file, a terminal, anything else."""

import io
import json
import re
import sys
import time
from pathlib import Path

import pytest

from extrap.utils import progress
from extrap.utils.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_file_for_the_sweep_is_written_now_and_then_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "job.json"
    monkeypatch.setenv(progress.FILE, str(file))
    with Progress("train", 1000) as p:
        began = {"phase": "train", "done": 0, "total": 1000, "note": "", "left": None}
        began |= {"device": ""}
        assert json.loads(file.read_text(encoding="utf-8")) == began
        monkeypatch.setattr(progress.time, "monotonic", lambda: 0.0)
        p(1, note="loss 5")
        assert json.loads(file.read_text(encoding="utf-8"))["done"] == 0
        p(1000, note="loss 2")
        done = {"done": 1000, "note": "loss 2", "left": 0.0}
        assert json.loads(file.read_text(encoding="utf-8")) == began | done
    progress.end("skipped", "finished before")
    assert json.loads(file.read_text(encoding="utf-8"))["phase"] == "skipped"
    progress.end("failed", "killed")
    assert json.loads(file.read_text(encoding="utf-8"))["note"] == "killed"
    assert [f.name for f in tmp_path.iterdir()] == ["job.json"]


@pytest.mark.parametrize("place", ["terminal", "notebook"])
def test_a_bar_is_drawn(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal() if place == "terminal" else io.StringIO())
    if place == "notebook":
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with Progress("nll") as p:
        p(4, total=4, note="length 1024")
    assert "nll" in sys.stderr.getvalue() and "4/4" in sys.stderr.getvalue()


class Watch:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_a_minute_where_no_bar_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a pipe, and in the log of a job of a sweep."""
    for file in (None, tmp_path / "job.json"):
        if file is not None:
            monkeypatch.setenv(progress.FILE, str(file))
        monkeypatch.setattr(progress.time, "monotonic", watch := Watch())
        with Progress("train", 1000) as p:
            for done in range(501, 622):  # resumed half-way, two steps a second
                p(done, note="loss 2")
                watch.now += 0.5
            p(1000)
        assert capsys.readouterr().err.splitlines() == [
            "train 62 %, 3:10 left, loss 2",
            "train: 1000 in 60.5 s",
        ]


@pytest.mark.parametrize("place", ["terminal", "pipe"])
def test_silent_work_shows_that_it_goes_on(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line on a pipe comes at once; a bar moves between two calls."""
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.setattr(progress, "BEAT", 0.01)
    monkeypatch.setattr(sys, "stderr", Terminal() if place == "terminal" else io.StringIO())
    with Progress("haystack", beats=True) as p:
        p(0, total=4000)
        before = sys.stderr.getvalue()
        shown = re.compile(r"haystack: +0%.* 0/4000" if place == "terminal" else "haystack 0 %\n")
        while not shown.search(sys.stderr.getvalue()[len(before) :]):
            assert p._thread.is_alive()
            time.sleep(0.01)
    assert not p._thread.is_alive()
    if place == "pipe":  # the next line would come after a minute
        assert re.fullmatch(r"haystack 0 %\nhaystack: 0 in \d+\.\d s\n", sys.stderr.getvalue())


def test_the_pace_is_that_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.FILE, str(file := tmp_path / "job.json"))
    monkeypatch.setattr(progress.time, "monotonic", watch := Watch())

    def left() -> float | None:
        return json.loads(file.read_text(encoding="utf-8"))["left"]

    p = Progress("train", 2000)
    assert left() is None
    watch.now += 7  # of reading and building
    p(1500)
    assert left() is None
    watch.now += 10
    p(1600)
    assert left() == 40


def test_a_process_by_itself_keeps_its_progress_while_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(progress.FILE, raising=False)
    with progress.kept(file := tmp_path / "a.json"):
        with Progress("kv", 4) as p:
            p(4)
        assert json.loads(file.read_text())["done"] == 4
    assert list(tmp_path.iterdir()) == []
    with Progress("kv", 4):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_has_its_own_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps a second from step 1000 on: the bar leaves 50 s, not the pace of 1000 steps."""
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("train", 1500) as p:
        p(1000)
        bar = p._bar
        bar.start_t -= 1.0
        p(1010)
        assert bar.n == 1010
        assert bar.format_dict["initial"] == 1000
        assert (bar.n - bar.initial) / bar.format_dict["elapsed"] == pytest.approx(10, rel=0.2)
