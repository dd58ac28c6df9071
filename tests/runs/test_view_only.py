"""Whatever a dashboard does, a job goes on: one warning, and every row."""

from pathlib import Path

import pytest

from extrap.runs.dashboard import Dashboard
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
