"""The reference study: its experiment files work at every tier, and go on on another machine."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from extrap.runs import validate
from extrap.runs.evaluate import evaluate, measured
from extrap.runs.experiment import done
from extrap.runs.train import train
from tests.support.jobs import TINY, first_jobs, job

pytestmark = pytest.mark.usefixtures("elsewhere")

CONF = Path(__file__).parents[2] / "conf" / "experiment" / "reference"
TIERS = sorted(path.stem for path in CONF.glob("*.yaml"))
HERE = ("data/corpus=torch", "data/vocabulary=bytes", "trainer=cpu", "logger=none")
"""What this machine has in place of a hub, a tokenizer and a GPU."""
TASKLESS = [word for word in TINY if not word.startswith("task.")]
KV = ("scheme=rope", "task=[kv]", "task.kv.multiples=[1,2]", "task.kv.trials=10")


def here(tier: str) -> tuple[str, ...]:
    text = (CONF / f"{tier}.yaml").read_text()
    if "corpus: prose" in text:
        return (*HERE, "~data.corpus.document_tokens", "data.vocabulary.keys=1024")
    more = ("~data.vocabulary.tokenizer", "data.corpus.validation=0.1")  # the text here is shorter
    return (*HERE, *more) if "tokenizer" in text else HERE


def grids(tier: str) -> list[dict[str, Any]]:
    return yaml.safe_load((CONF / f"{tier}.yaml").read_text())["sweep"]["grid"]


def listed(values: Any) -> list:
    return values if isinstance(values, list) else [values]


def options(experiment: str, scheme: str) -> dict:
    """What the grid that holds a scheme sets beside it and its seed."""
    file = CONF.parent / f"{experiment}.yaml"
    for grid in yaml.safe_load(file.read_text())["sweep"]["grid"]:
        named = grid["scheme"]
        others = isinstance(named, dict)
        if (scheme in (named["exclude"] if others else listed(named))) != others:
            return {k: str(v) for k, v in grid.items() if k not in ("scheme", "seed")}
    raise AssertionError(f"{experiment} does not train {scheme}")


HEADLINE = [name for grid in grids("headline") for name in listed(grid["scheme"])]


def test_the_first_seeds_of_the_headline_are_runs_of_the_zoo():
    """Not trained twice: the same data, model and recipe, and the same options for each scheme."""
    assert len(HEADLINE) == 12
    for scheme in HEADLINE:
        assert options("reference/headline", scheme) == options("zoo", scheme)
    for scheme in ("rope", "nope"):
        more = [f"{k}={v}" for k, v in options("zoo", scheme).items()]
        ours, theirs = (
            job(f"experiment={name}", f"scheme={scheme}", *more, *HERE, tiny=()).run.name
            for name in ("reference/headline", "zoo")
        )
        assert ours == theirs


CHECKED = [(tier, words) for tier in TIERS for words in first_jobs(CONF / f"{tier}.yaml")]


@pytest.mark.sample(5)
@pytest.mark.parametrize("tier, words", CHECKED, ids=[" ".join((t, *w)) for t, w in CHECKED])
def test_every_grid_of_every_tier_is_a_configuration_without_mistakes(tier, words):
    this = job(f"experiment=reference/{tier}", *words, *here(tier), tiny=())
    assert this.source.params > 0 and this.training.batches.mixture is this.source.mixture
    assert sorted(this.tasks) == sorted(this.task_names)
    if tier in ("headline", "scale"):  # the others are seconds of building weights
        validate.check(this)


def test_a_job_whose_rows_are_here_is_not_trained_again(elsewhere):
    """A fresh clone has rows and no runs."""
    words = (*KV, "accept_rows=true")
    this = job(*words, tiny=TASKLESS)
    train(this)
    evaluate(this)

    def finished(*words: str) -> bool:
        return done(job(*words, tiny=TASKLESS))

    shutil.rmtree(this.run.folder / "done")
    assert finished(*words), "weights that were carried over do not make the rows of others less"
    assert not finished(*KV)
    this.run.folder.rename(elsewhere / "gone")
    assert finished(*words)
    assert not finished(*KV), "it is asked for, or the run is made again"
    assert not finished(*words, "stage=train"), "rows are no weights"
    assert not finished(*words, "seed=1")
    assert not finished(*words, "task.kv.trials=12"), "other questions"
    assert not finished(*words, "task=[kv,nll]"), "a task is missing"


def test_rows_that_are_not_whole_or_not_of_the_job_are_no_rows(elsewhere):
    this = job(*KV, tiny=TASKLESS)
    train(this)
    evaluate(this)
    assert measured(this)
    file = next((this.results / "rows").glob("*__kv.csv"))
    text = file.read_text()
    for damaged in (text.replace(this.run.name, "rope-00000000-s0"), text[:-20], ""):
        file.write_text(damaged)
        assert not measured(this)
    file.write_text(text)
    assert measured(this)
