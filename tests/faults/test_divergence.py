"""A loss that is not finite: the run stops and is marked, and a sweep goes on."""

import math

import pytest
import torch

import extrap
from extrap import figures
from extrap.results import rows
from extrap.results.summary import summary
from extrap.runs.evaluate import entry as listed
from extrap.runs.experiment import done, work
from extrap.runs.study import State, standing
from extrap.runs.training.lightning_module import Lit
from extrap.utils.errors import UserError
from tests.support.in_python import ROPE
from tests.support.jobs import job
from tests.support.plausible import identity, run_rows

pytestmark = pytest.mark.usefixtures("elsewhere")


def spoiled(monkeypatch: pytest.MonkeyPatch, step: int, value: float) -> None:
    """From a step on, the loss is `value`."""
    plain = Lit.training_step

    def training_step(self, batch, *args):
        loss = plain(self, batch, *args)
        if self.trainer.global_step >= step:
            self.measured = {name: torch.full_like(v, value) for name, v in self.measured.items()}
        return loss

    monkeypatch.setattr(Lit, "training_step", training_step)


@pytest.mark.parametrize(("step", "value"), [(0, math.nan), (5, math.inf), (7, -math.inf)])
def test_it_stops_with_a_name_and_a_sweep_goes_on(step, value, monkeypatch, capsys):
    spoiled(monkeypatch, step, value)
    this = job("scheme=rope")
    entry = listed(this, "extrap")
    entry.write()
    work(this)  # an exception would fail the job, and with it the sweep
    assert this.run.state["state"] == "diverged"
    told = [line for line in capsys.readouterr().err.splitlines() if "diverged" in line]
    assert len(told) == 1 and this.run.name in told[0] and "not finite at step" in told[0]
    found = rows.read(this.results)
    assert set(found["status"]) == {"diverged"}
    assert found[found["metric"] == "diverged_at"]["value"].tolist() == [min(8, step // 2 * 2 + 2)]
    assert done(job("scheme=rope"))
    assert (standing(entry).state, standing(entry).left) == (State.DIVERGED, [])
    assert summary(found)["verdict"].tolist() == ["diverged"]


def test_python_names_the_run(monkeypatch):
    spoiled(monkeypatch, 0, math.nan)
    run = extrap.train(*ROPE)
    with pytest.raises(UserError, match=rf"^model={run.name}: its training diverged; train it"):
        extrap.evaluate(run, tasks="nll", multiples=[1])


def test_figures_show_it():
    lost = {"status": "diverged"}
    curve = [row | lost for row in run_rows("t5") if row["task"] == "train"]
    early = identity("xpos") | lost | {"task": "train", "metric": "diverged_at"}
    rows.write("results/s/rows/a.csv", [*run_rows("rope"), *curve, early | {"value": 25.0}])
    figure = figures.available()["training_curves"].draw(rows.read("results/s"))
    labels = {line.get_label() for panel in figure.axes for line in panel.lines}
    assert {"rope", "t5 – diverged"} <= labels
    said = " ".join(text.get_text() for text in figure.texts)
    assert "diverged: xpos (seed 0) at step 25" in said
