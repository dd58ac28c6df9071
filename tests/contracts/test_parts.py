"""From training on every kind of data to figures and tables: none takes a part of the data for
granted.
"""

from pathlib import Path

import pytest

from extrap.cli import plot, table
from extrap.runs.experiment import work
from extrap.utils.paths import conf_dir
from tests.support.jobs import job

SHORT = [
    "logger=none",
    *("train.steps=2", "train.log_every=1", "train.warmup=1"),
    *(
        "task=[kv,nll]",
        "task.kv.multiples=[1]",
        "task.kv.trials=2",
        "task.nll.multiples=[1]",
        "task.nll.documents=2",
    ),
]
DATA = sorted(path.stem for path in (Path(conf_dir()) / "data").glob("*.yaml"))


@pytest.mark.turns
@pytest.mark.sample(3)
@pytest.mark.parametrize("data", DATA)
def test_what_was_trained_can_be_drawn_and_tabled(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    work(job(f"data={data}", tiny=SHORT))
    plot.main(["main"])
    table.main(["main"])
    assert "results/main/figures/training_curves.svg" in capsys.readouterr().out
