"""Full, read-only and failing disks: a line names the file, nothing is half-written."""

import errno
import os
import resource
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from extrap.cli.plot import main as plot
from extrap.runs.evaluate import evaluate
from extrap.runs.train import train
from extrap.utils import atomic, errors
from extrap.utils.errors import UserError
from tests.support.jobs import job


def failing(number: int):
    def fail(*args: object, **more: object):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_the_old_content_stands_whatever_the_disk_refuses(tmp_path, monkeypatch, call, number):
    path = tmp_path / "a.csv"
    atomic.replace(path, b"old")
    with monkeypatch.context() as broken:
        broken.setattr(atomic if call == "open" else os, call, failing(number), raising=False)
        with pytest.raises(OSError) as caught:
            atomic.replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]
    assert errors.disk_fault(caught.value) == f"{path}: {errors.FAULTS[number]}"


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc elsewhere")
def test_a_place_where_no_folder_can_be_made():
    with pytest.raises(UserError, match=r"^/proc/x: extrap cannot make a folder there"):
        atomic.make_folder(Path("/proc/x/y"))


def test_other_errors_are_no_fault_of_the_disk():
    assert errors.disk_fault(ValueError("no")) is None
    assert errors.disk_fault(FileNotFoundError(errno.ENOENT, "no")) is None


@pytest.mark.usefixtures("elsewhere")
def test_figures_that_cannot_be_written_are_one_line(monkeypatch, capsys):
    from tests.runs.test_study import finished

    finished("rope-1-s0")
    monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))
    with pytest.raises(SystemExit, match="2"):
        plot(["s", "training_curves"])
    assert (
        capsys.readouterr().err
        == f"extrap plot: results/s/figures/training_curves.svg: {errors.FAULTS[errno.ENOSPC]}\n"
    )
    assert list(Path("results/s/figures").iterdir()) == []


@pytest.mark.usefixtures("elsewhere")
def test_files_that_may_not_grow_further_stop_training_and_leave_nothing_half():
    """The largest file allowed grows until all fit: every file is there whole or not at all."""
    whole = job("scheme=rope")
    train(whole)
    evaluate(whole)
    rows = {path.name: path.read_bytes() for path in (whole.results / "rows").iterdir()}
    weights = whole.run.weights.read_bytes()
    shutil.rmtree(whole.run.folder)
    shutil.rmtree(whole.results)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (100, 10_000, len(weights) - 1, 10**8):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
            this = job("scheme=rope")
            with pytest.raises(OSError) if size < 10**8 else nullcontext() as caught:
                train(this)
                evaluate(this)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert this.run.trained == (caught is None) == (size == 10**8)
        assert caught is None or (
            str(this.run.folder) in errors.disk_fault(caught.value)
            and "ulimit -f" in errors.disk_fault(caught.value)
        )
        assert not list(Path("runs").glob("[!.]*/**/.*.tmp"))
        assert not whole.run.weights.exists() or whole.run.weights.read_bytes() == weights
    assert {path.name: path.read_bytes() for path in (whole.results / "rows").iterdir()} == rows
