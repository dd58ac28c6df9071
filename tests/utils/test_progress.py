"""Progress in its three places: a sweep's file, a terminal, anything else."""

import io
import json
import sys
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
        assert json.loads(file.read_text(encoding="utf-8")) == {
            "phase": "train",
            "done": 0,
            "total": 1000,
            "note": "",
        }
        monkeypatch.setattr(progress.time, "monotonic", lambda: 0.0)
        p(1, note="loss 5")
        assert json.loads(file.read_text(encoding="utf-8"))["done"] == 0
        p(1000, note="loss 2")
        assert json.loads(file.read_text(encoding="utf-8")) == {
            "phase": "train",
            "done": 1000,
            "total": 1000,
            "note": "loss 2",
        }
    progress.skipped("finished before")
    assert json.loads(file.read_text(encoding="utf-8"))["phase"] == "skipped"
    progress.failed("killed")
    assert json.loads(file.read_text(encoding="utf-8"))["note"] == "killed"
    assert [f.name for f in tmp_path.iterdir()] == ["job.json"]


def test_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("nll") as p:
        p(1, total=4)
        p(4, note="length 1024")
    assert "nll" in sys.stderr.getvalue()
    assert "4/4" in sys.stderr.getvalue()


def test_one_line_per_phase_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(progress.FILE, raising=False)
    with Progress("kv", 7) as p:
        for done in range(1, 8):
            p(done)
    progress.skipped("rope-s0: nothing left to do")
    progress.failed("said on stderr by the caller")
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("kv: 7 in ")
    assert said[1:] == ["rope-s0: nothing left to do"]
