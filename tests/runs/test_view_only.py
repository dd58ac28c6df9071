"""Whatever a dashboard does, a job goes on: one warning, and every row."""

from pathlib import Path

import pytest
from lightning.pytorch.loggers import CSVLogger

from extrap.runs.dashboard import Dashboard, ViewOnly, library
from extrap.runs.experiment import work
from tests.support.jobs import job

WORDS = ["train.steps=2", "train.log_every=1", "train.save_every=1", "model.dim=16"]


@pytest.mark.sample(2)
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("part", ["start", "lightning", "log", "draw", "finish"])
def test_a_dashboard_that_fails_stops_nothing(part, monkeypatch, capsys):
    def broken(*args: object, **options: object) -> None:
        raise OSError("no room for a view\nand more")

    monkeypatch.setattr(Dashboard, part, broken)
    this = job(*WORDS, "logger=none", "model.heads=2", "task=[nll,kv]")
    this.run.folder.mkdir(parents=True)
    work(this)
    warned = [line for line in capsys.readouterr().err.splitlines() if "extrap:" in line]
    line = "extrap: logger: no room for a view; going on without it, logger=none leaves it out"
    assert warned == [line]
    assert len(list(Path("results/main/rows").glob("*.csv"))) == 3


@pytest.mark.parametrize("part", ["log_metrics", "save", "finalize"])
def test_a_curve_that_the_disk_does_not_take_stops_nothing(part, monkeypatch, tmp_path, capsys):
    def broken(*args: object, **options: object) -> None:
        raise OSError("no room for a curve")

    monkeypatch.setattr(CSVLogger, part, broken)
    monkeypatch.setattr(Dashboard, "lightning", lambda _: CSVLogger(tmp_path))
    logger = ViewOnly(Dashboard()).lightning()
    logger.log_metrics({"loss": 1.0}, 0)
    logger.save()
    logger.finalize("success")
    assert capsys.readouterr().err.count("no room for a curve; going on without it") == 1


def test_wandb_wants_a_folder_with_a_name():
    library.check_folder(Path("/ä"))
    with pytest.raises(ValueError, match="a name in UTF-8"):
        library.check_folder(Path("/\udcff"))
