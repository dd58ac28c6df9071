"""Each command that makes rows of a figure composes, with every value of its lists."""

import itertools
import shlex

import pytest

from extrap import figures
from tests.support import jobs
from tests.support.discover import PLUGINS

ALL = figures.available(plugins=PLUGINS)
FETCHED = "reads a checkpoint that `make pretrained` fetches"
PUBLISHED = {"toy_rank": FETCHED, "multidoc_qa": FETCHED}


def combinations(words):
    """The jobs of a command line: every value of each list, -m taken off."""
    lists = []
    for word in words:
        name, _, values = word.partition("=")
        lists.append([f"{name}={value}" for value in values.split(",")])
    return itertools.product(*lists)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", ALL)
def test_the_command_of_a_figure_composes(name):
    program, *words = shlex.split(figures.command(ALL[name], "mine"))
    several = any("," in word for word in words)
    assert program == "extrap"
    assert not several or "-m" in words, "a list asks for a sweep"
    chosen = list(combinations([word for word in words if word != "-m"]))
    if name in PUBLISHED:
        assert all(ALL[name].NEEDS["task"] in jobs.composed(*words)[0]["task"] for words in chosen)
        return
    for overrides in (chosen[0], chosen[-1]):
        job = jobs.job(*overrides, tiny=["logger=none"])
        assert job.config["study"] == "mine"
        assert job.extension is not None
        if ALL[name].NEEDS["task"] != "train":
            assert ALL[name].NEEDS["task"] in job.tasks
