"""Studies and run folders of other versions are rejected by name."""

import json
from pathlib import Path

import pytest

from extrap.results import rows
from extrap.runs.evaluate import evaluate
from extrap.runs.experiment import work
from extrap.runs.folder import write_json
from extrap.utils import versions
from extrap.utils.errors import UserError
from tests.runs.test_study import finished
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_nothing_is_trained_over_a_later_version():
    this = job("scheme=rope")
    this.run.folder.mkdir(parents=True)
    write_json(this.run.folder / "state.json", {"schema": versions.RUN + 1, "state": "new"})
    this.run.weights.write_bytes(b"of a later program")
    with pytest.raises(UserError, match=f"a run folder of version {versions.RUN + 1}"):
        work(this)
    assert this.run.weights.read_bytes() == b"of a later program"


@pytest.mark.parametrize("said", [{"schema": 2}, {"state": "trained", "steps": 8, "files": {}}])
def test_a_state_that_says_nothing_is_none(said):
    assert versions.run_state(said, Path("state.json")) == {}


def test_rows_carry_their_version_and_those_without_are_of_the_first(capsys):
    done = finished("rope-1-s0")
    study = done.file("kv").rows.parents[1]
    assert not (study / "schema.json").exists()
    assert len(rows.read(study))
    versions.claim_rows(study)
    assert json.loads((study / "schema.json").read_text()) == {"rows": versions.ROWS}
    assert len(rows.read(study))


def test_nothing_is_evaluated_beside_rows_of_another_version():
    """What the other commands say of these rows are cases of tests/faults/cases_runs.py."""
    path = finished("rope-1-s0").file("kv").rows.parents[1] / "schema.json"
    path.write_text('{"rows": 2}')
    kept = contents(path.parent)
    this = job("scheme=rope", "study=s")
    this.run.folder.mkdir(parents=True)
    this.run.weights.touch()
    this.run.curve.write_text('{"points": []}')
    this.run.mark("trained", 8)
    with pytest.raises(UserError, match=f"{path}: rows of version 2"):
        evaluate(this)
    assert contents(path.parent) == kept


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
