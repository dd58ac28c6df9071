"""Every experiment file: the first job of its first grid is a configuration without mistakes; under
--all the first job of each of its grids.
"""

from pathlib import Path

import pytest
import yaml

from extrap.runs import validate
from extrap.runs.evaluate import measured
from tests.support.exceptions import FETCHED, MEASURED_BEFORE, RUNNING
from tests.support.jobs import first_jobs, job

pytestmark = pytest.mark.usefixtures("elsewhere")

CONF = Path(__file__).parents[2] / "conf" / "experiment"
"""Those of its folder reference: tests/runs/test_reference.py."""


def case(name: str, words: list[str], rank: int):
    """Returns a parameter set, which runs under --all alone unless it is of the first grid."""
    marks = [pytest.mark.whole] if rank else []
    return pytest.param(name, words, marks=marks, id=" ".join((name, *words)))


CASES = [
    case(file.stem, first, rank)
    for file in sorted(CONF.glob("*.yaml"))
    if file.stem not in FETCHED
    for rank, first in enumerate(first_jobs(file))
]


@pytest.mark.sample(12)
@pytest.mark.filterwarnings("ignore:task=.* left aside")  # a grid may measure one of the tasks
@pytest.mark.parametrize("name, words", CASES)
def test_the_first_job_of_every_grid_is_a_configuration_without_mistakes(name, words):
    this = job(f"experiment={name}", *words, "logger=none", tiny=())
    validate.check(this)
    assert this.source.params > 0


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name, words",
    [
        case
        for case in CASES
        if yaml.safe_load((CONF / f"{case.values[0]}.yaml").read_text()).get("accept_rows")
    ],
)
def test_a_study_that_goes_on_from_its_rows_finds_those_that_are_committed(
    name, words, monkeypatch
):
    """A task that was measured before its questions changed is measured again, and no other is. A
    study that is declared and still runs has no row of some of its jobs.
    """
    monkeypatch.chdir(CONF.parents[1])
    words = [f"experiment={name}", *words, "logger=none"]
    this = job(*words, tiny=())
    study = this.config["study"]
    if study in RUNNING and not [*Path(f"results/{study}/rows").glob(f"{this.run.name}__*")]:
        pytest.skip("a study that still runs has no row of this job")
    before = MEASURED_BEFORE.keys() & this.config["task"].keys()
    assert measured(this) == (not before)
    assert measured(job(*words, *(f"~task.{task}" for task in before), tiny=()))


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yaml")), ids=lambda file: file.stem)
def test_an_experiment_names_its_study_itself(file):
    """Where it were taken over from another, `extrap report` would not name the experiment."""
    assert yaml.safe_load(file.read_text()).get("study")
