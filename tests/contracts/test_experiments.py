"""Every experiment file: the first job of each of its grids is a configuration without mistakes."""

from pathlib import Path

import pytest
import yaml

from extrap.runs import validate
from extrap.runs.planned import measured
from tests.support.jobs import first_jobs, job

pytestmark = pytest.mark.usefixtures("elsewhere")

CONF = Path(__file__).parents[2] / "conf" / "experiment"
FETCHED = {"pretrained": "its checkpoint is 98 MB to fetch"}
"""Those of conf/experiment/reference: tests/runs/test_reference.py."""


CASES = [
    (file.stem, first)
    for file in sorted(CONF.glob("*.yaml"))
    if file.stem not in FETCHED
    for first in first_jobs(file)
]


@pytest.mark.parametrize("name, words", CASES, ids=[" ".join((n, *w)) for n, w in CASES])
def test_the_first_job_of_every_grid_is_a_configuration_without_mistakes(name, words):
    this = job(f"experiment={name}", *words, "logger=none", tiny=())
    validate.check(this)
    assert this.params > 0


ACCEPTED = [
    (name, words)
    for name, words in CASES
    if yaml.safe_load((CONF / f"{name}.yaml").read_text()).get("accept_rows")
]


@pytest.mark.parametrize(
    "name, words", ACCEPTED, ids=[" ".join((name, *words)) for name, words in ACCEPTED]
)
def test_a_study_that_goes_on_from_its_rows_finds_those_that_are_committed(
    name, words, monkeypatch
):
    monkeypatch.chdir(CONF.parents[1])
    assert measured(job(f"experiment={name}", *words, "logger=none", tiny=()))


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yaml")), ids=lambda file: file.stem)
def test_an_experiment_names_its_study_itself(file):
    """Where it were taken over from another, `extrap-report` would not name the experiment."""
    assert yaml.safe_load(file.read_text()).get("study")
