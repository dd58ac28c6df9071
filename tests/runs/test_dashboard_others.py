"""Dashboards without an account: trackio, read back from its files, and Lightning's own loggers."""

import importlib
import sys
from pathlib import Path

import pytest

from extrap.cli import dashboard as command
from extrap.cli import report
from extrap.runs.dashboard import view
from extrap.runs.dashboard.series_table import COLUMNS
from extrap.runs.dashboard.study import read
from extrap.runs.folder import read_json
from extrap.runs.train import train
from extrap.runs.training.callbacks import Curve
from extrap.utils.pip import install_extra
from tests.support.jobs import job
from tests.support.plausible import written


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of one run that learned retrieval and one that did not."""
    monkeypatch.chdir(tmp_path)
    written("rope", "learned")
    return read("demo")


@pytest.mark.turns
def test_trackio_has_the_pages_of_a_study(study, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio", reason="the extra `trackio` is not installed")
    storage = importlib.import_module("trackio.sqlite_storage").SQLiteStorage
    for _ in range(2):  # the second time replaces the pages of the first
        command.main(["demo", "--trackio"])
    shown = [f"{page.run} direct: {sum(map(len, own.values()))} rows"
             for page, own in study.pages]  # fmt: skip
    query = "extrap&smoothing=0&x_axis=eval/length"
    opens = f"TRACKIO_DIR={tmp_path / 'trackio'} trackio show --project '{query}'"
    assert capfd.readouterr().out.splitlines() == [*shown, opens] * 2
    runs = {run.name: run for run in sys.modules["trackio"].Api().runs("extrap")}
    assert runs.keys() == {page.id for page in [*study.jobs, study.page]}
    for page, own in study.pages:
        config = runs[page.id].config
        assert {name: config[name] for name in page.config} == page.config
        history = storage.get_logs("extrap", page.id)
        points = [point for some in own.values() for point in view.curve(some)]
        names = {name for point in points for name in point}
        curve = [{k: v for k, v in item.items() if k in names} for item in history]
        assert [point for point in curve if point] == points
        logged = {name: value for item in history for name, value in item.items()}
        best = {f"series/{name}": value for name, value in page.best.items()}
        for task, some in own.items():
            assert (view.summary(task, some) | best).items() <= logged.items()
            if data := view.table(some):
                lines = logged[f"table/{task}"]["_value"]
                assert [[line[column] for column in view.COLUMNS] for line in lines] == data
    history = storage.get_logs("extrap", study.page.id)
    (medium,) = (item["report"] for item in history if "report" in item)
    kept = tmp_path / "trackio" / "media" / medium["file_path"]
    assert medium["_type"] == "trackio.html"
    assert kept.read_text() == report.text(Path("results"), ["demo"], images=False)
    (lines,) = (item["curves"]["_value"] for item in history if "curves" in item)
    said = [[line[column] for column in COLUMNS] for line in lines]
    assert said == [list(line) for line in study.table]


def test_trackio_that_is_not_installed_is_one_line(study, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(SystemExit, match="2"):
        command.main(["demo", "--trackio"])
    line = f"logger=trackio: needs the package trackio; {install_extra('trackio')}\n"
    assert capsys.readouterr() == ("", f"extrap dashboard: {line}")
    with pytest.raises(SystemExit, match="2"):
        command.main(["demo", "--trackio", "--online"])


@pytest.mark.usefixtures("elsewhere")
def test_csv_has_the_training_curve_as_it_grows(monkeypatch):
    this, counts, log = job("scheme=rope", "logger=csv"), [], Curve._log

    def counted(curve, *given):
        log(curve, *given)
        (file,) = Path("curves").glob(f"{this.run.name}/version_0/metrics.csv")
        counts.append(len(file.read_text().splitlines()) - 1)

    monkeypatch.setattr(Curve, "_log", counted)
    train(this)
    (file,) = Path("curves").glob(f"{this.run.name}/version_0/metrics.csv")
    assert counts == [1, 2, 3, 4]
    head, *lines = [line.split(",") for line in file.read_text().splitlines()]
    points = read_json(this.run.curve)["points"]
    at, loss = head.index("step"), head.index("train/text/nll")
    shown = [(int(line[at]), float(line[loss])) for line in lines]
    assert shown == [(point["step"], pytest.approx(point["text/nll"])) for point in points]


@pytest.mark.usefixtures("elsewhere")
def test_tensorboard_has_the_training_curve():
    pytest.importorskip("tensorboard", reason="is no part of extrap")
    assert logged_by_tensorboard() == 1


@pytest.mark.usefixtures("elsewhere")
def test_tensorboard_that_is_not_installed_is_missed_in_one_line(capsys, monkeypatch):
    for name in ("tensorboard", "tensorboardX"):
        monkeypatch.setitem(sys.modules, name, None)
    assert logged_by_tensorboard() == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "extrap: logger" in line]
    assert len(said) == 1


def logged_by_tensorboard() -> int:
    """Trains a run and returns how many files of events it left."""
    this = job("scheme=rope", "logger=tensorboard")
    train(this)
    assert this.run.trained
    return len([*Path("tensorboard").glob(f"{this.run.name}/version_0/events.*")])
