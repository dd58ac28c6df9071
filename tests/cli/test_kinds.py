"""Jobs of a sweep that differ in seed or optimiser share the check that builds a model."""

import pytest

from extrap.runs import experiment, validate
from extrap.runs.experiment import Experiment
from extrap.utils.errors import NotApplicable, UserError
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def checked(monkeypatch):
    """The names of the runs that were checked whole."""
    names, whole = [], validate.check
    monkeypatch.setattr(experiment, "_CHECKED", {})
    monkeypatch.setattr(validate, "check", lambda this: names.append(this.run.name) or whole(this))
    return names


def test_one_job_of_a_kind_is_checked_whole(checked):
    for words in ("seed=0", "seed=1", "train.lr=0.002 seed=1", "scheme=alibi", "seed=2"):
        Experiment(job(*words.split()), "extrap", True).check()
    assert checked == [job().run.name, job("scheme=alibi").run.name]
    Experiment(job("seed=3"), "extrap").check()
    assert len(checked) == 3


@pytest.mark.parametrize("wrong", ["train.lr=-1", "train.save_every=3"])
def test_each_job_has_its_own_options_checked(checked, wrong):
    Experiment(job(), "extrap", True).check()
    with pytest.raises(UserError, match=wrong.split("=")[0]):
        Experiment(job(wrong), "extrap", True).check()
    assert len(checked) == 1


def test_a_pair_that_makes_no_sense_is_one_for_every_seed(checked):
    for seed in (0, 1):
        this = job("scheme=alibi", "extension=yarn", f"seed={seed}")
        with pytest.raises(NotApplicable, match="extension=yarn"):
            Experiment(this, "extrap", True).check()
    assert len(checked) == 1
