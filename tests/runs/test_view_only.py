"""Whatever W&B does, a job goes on: one warning, and every row."""

from pathlib import Path

import pytest

from extrap.runs.dashboard import WandB
from extrap.runs.experiment import work
from tests.support.jobs import job

WORDS = ["train.steps=2", "train.log_every=1", "train.save_every=1", "model.dim=16"]


def broken(*args: object, **options: object) -> None:
    raise OSError("no room for a view\nand more")


@pytest.mark.sample(2)
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("part", ["_init", "lightning", "log", "draw", "finish"])
def test_a_dashboard_that_fails_stops_nothing(
    part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if part != "_init":
        monkeypatch.setattr(WandB, "_init", lambda *args: Silent())
    monkeypatch.setattr(WandB, part, broken)
    this = job(*WORDS, "logger=wandb", "model.heads=2", "task=[nll,kv]")
    this.run.folder.mkdir(parents=True)
    work(this)
    warned = [line for line in capsys.readouterr().err.splitlines() if "extrap:" in line]
    assert warned == [
        "extrap: logger: no room for a view; going on without it, logger=none leaves it out"
    ]
    assert len(list(Path("results/main/rows").glob("*.csv"))) == 3


class Silent:
    """A page of W&B that takes everything."""

    id, step = "x", 0
    summary: dict = {}  # noqa: RUF012  updated, never read
    config: dict = {}  # noqa: RUF012

    def define_metric(self, *args: object, **options: object) -> None: ...

    def log(self, *args: object, **options: object) -> None: ...

    def finish(self, *args: object, **options: object) -> None: ...
