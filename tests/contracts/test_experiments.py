"""Every experiment file: the first job of its first grid is a configuration without mistakes; under
--all the first job of each of its grids.
"""

from pathlib import Path

import pytest
import yaml

from extrap.runs import validate
from extrap.runs.evaluate import measured
from tests.support.exceptions import FETCHED, MEASURED_BEFORE
from tests.support.jobs import first_jobs, job

pytestmark = pytest.mark.usefixtures("elsewhere")

CONF = Path(__file__).parents[2] / "conf" / "experiment"
FOUND = sorted(CONF.rglob("*.yaml"))
FILES = {file.relative_to(CONF).with_suffix("").as_posix(): file for file in FOUND}
HERE = [name for name in FILES if not name.startswith("reference/")]
"""Those of the folder reference: tests/runs/test_reference.py."""


def case(name: str, words: list[str], rank: int):
    """Returns a parameter set, which runs under --all alone unless it is of the first grid."""
    marks = [pytest.mark.whole] if rank else []
    return pytest.param(name, words, marks=marks, id=" ".join((name, *words)))


CASES = [
    case(name, first, rank)
    for name in HERE
    if name not in FETCHED
    for rank, first in enumerate(first_jobs(FILES[name]))
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
        if yaml.safe_load(FILES[case.values[0]].read_text()).get("accept_rows")
    ],
)
def test_a_study_that_goes_on_from_its_rows_finds_those_that_are_committed(
    name, words, monkeypatch
):
    """A task that was measured before its questions changed is measured again, and no other is."""
    monkeypatch.chdir(CONF.parents[1])
    words = [f"experiment={name}", *words, "logger=none"]
    this = job(*words, tiny=())
    before = MEASURED_BEFORE.keys() & this.config["task"].keys()
    assert measured(this) == (not before)
    assert measured(job(*words, *(f"~task.{task}" for task in before), tiny=()))


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_an_experiment_names_its_study_itself(file):
    """Where it were taken over from another, `extrap report` would not name the experiment."""
    assert yaml.safe_load(file.read_text()).get("study")
