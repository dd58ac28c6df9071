"""`import extrap`: the functions of a notebook do what the command line does, bit for bit."""

import json
import re
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from matplotlib.figure import Figure
from pandas.testing import assert_frame_equal

import extrap
from extrap.cli import compare as command
from extrap.cli.apart import own_settings
from extrap.cli.shared import advise
from extrap.runs.evaluate import evaluate as written
from extrap.runs.experiment import Experiment
from extrap.utils.errors import UserError
from tests.support.in_python import BOTH, ROPE, in_order
from tests.support.jobs import job, started

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.subprocess
def test_values_are_those_of_the_command_line(elsewhere: Path, monkeypatch) -> None:
    """A run trained and evaluated by both: the same weights, the same rows."""
    done = started("scheme=rope", "extension=yarn", "extension.factor=2")
    assert done.returncode == 0, done.stderr
    (elsewhere / "python" / "runs").mkdir(parents=True)
    theirs = extrap.rows("main")
    monkeypatch.chdir(elsewhere / "python")
    run = extrap.train(*ROPE)
    weights = Path("runs", run.name, "weights.pt").read_bytes()
    assert weights == (elsewhere / "runs" / run.name / "weights.pt").read_bytes()
    before = sorted(Path().rglob("*"))
    ours = extrap.evaluate(run, *BOTH, multiples=[1, 2], extension="yarn", factor=2)
    assert sorted(Path().rglob("*")) == before
    assert_frame_equal(in_order(ours), in_order(theirs), check_exact=True)


def test_a_training_is_interrupted_as_any_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            sys.exit(1)  # as Lightning does

    monkeypatch.setattr(Experiment, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        extrap.train(*ROPE)


@pytest.mark.turns
def test_a_run_is_compared_in_memory_as_on_disk(elsewhere: Path) -> None:
    run = extrap.train(*ROPE)
    options = ["extension=yarn", "extension.factor=2"], ["extension=ntk", "extension.factor=2"]
    for words in options:
        written(job("scheme=rope", *words))
    rows = extrap.evaluate(run, *BOTH, multiples=[1, 2], extension=["yarn", "ntk"], factor=2)
    assert set(rows["extension"]) == {"direct", "yarn", "ntk"} and not rows.duplicated().any()
    (pair,) = command.values(Path("results"), "main", ["rope+yarn", "rope+ntk"], [])["pairs"]
    for known in (rows, extrap.rows("main"), pd.concat([rows[::2], rows[1::2]])):
        found = extrap.compare(known, "yarn", "ntk")
        cells = found.astype(object).where(found.notna(), None).to_dict("records")
        assert len(cells) == len(pair["cells"]) > 3 and set(found["items"]) > {10}
        for ours, theirs in zip(cells, pair["cells"], strict=True):
            assert (ours["first"], ours["second"]) == ("rope + yarn x2", "rope + ntk x2")
            assert all(ours[name] == pytest.approx(value) for name, value in theirs.items())


def test_figures_are_drawn_and_shown_by_a_notebook() -> None:
    rows = extrap.evaluate(extrap.train(*ROPE), BOTH[1], tasks="kv", multiples=[1, 2])
    figure = extrap.plot(rows, "kv_depth", width=4)
    assert isinstance(figure, Figure) and figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(UserError, match="did you mean kv_depth"):
        extrap.plot(rows, "kv_dept")
    with pytest.raises(UserError, match="no rows with task=nll"):
        extrap.plot(rows, "loss_length")


def test_warnings_look_as_before_after_a_call_that_gives_advice() -> None:
    before = warnings.formatwarning
    with own_settings():
        advise()
        assert warnings.formatwarning is not before
        said = [warnings.formatwarning("a fact", UserWarning, "a.py", 1) for _ in range(2)]
        assert said == ["extrap: a fact\n", ""]
    assert warnings.formatwarning is before


def test_a_program_of_hydra_and_its_threads_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("a: 1")
    torch.set_num_threads(2)
    try:
        initialize_config_dir(str(tmp_path), version_base="1.3")
        with pytest.raises(UserError, match="task="):
            extrap.evaluate(lambda ids: ids, tasks="none")
        assert compose("mine").a == 1 and torch.get_num_threads() == 2
    finally:
        GlobalHydra.instance().clear()
        torch.set_num_threads(1)


@pytest.mark.turns
def test_the_notebook_runs(elsewhere: Path) -> None:
    """Each cell of code, with fewer steps of training, shorter texts and fewer trials."""
    notebook = json.loads((ROOT / "examples" / "first.ipynb").read_text())
    space: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            shows = text.splitlines()[-1].startswith(("extrap.plot", "extrap.compare"))
            assert bool(cell["outputs"]) == shows, "run the notebook again and keep its outputs"
            text = text.replace("multiples=[1, 2, 4]", "multiples=[1, 2]")
            exec(re.sub(r"(train.steps|task.kv.trials)=\d+", r"\1=9", text), space)
    assert set(space["rows"]["scheme"]) == {"rope", "alibi"}
    assert set(space["far"]["extension"]) == {"direct", "yarn", "ntk"}
