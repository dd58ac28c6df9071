"""Options of all tasks that suit neither the training length nor the data are refused by name.
More, with their messages: tests/faults/cases_options.py.
"""

import numpy as np
import pytest

from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Setting, Task
from extrap.utils.errors import UserError
from tests.support.discover import made, names, node
from tests.support.hand import Texts

L = 32
FEW = {"multiples": [1, 2], "documents": 3}
CASES = [
    ("aggregate", {"labels": 14}, "labels"),
    ("aggregate", {"multiples": [0.06, 1]}, ""),
    ("algorithmic", {"multiples": [0.01, 1]}, "multiples"),
    ("alias", {"multiples": [1, 4]}, "data.vocabulary.keys"),
    ("alias", {"multiples": [0.1, 1]}, ""),
    ("context-gain", {"multiples": [1, 0.5]}, "multiples"),
    ("diagnostics", {"multiples": [0.25, 1]}, "multiples"),
    ("gap", FEW | {"multiples": [0.25, 1]}, "multiples"),
    ("gap", FEW | {"multiples": [1, 1.001]}, "multiples"),
    ("gap", FEW | {"share": 0.01}, "share"),
    ("gap", FEW | {"documents": 4}, "data.corpus.path"),
    ("haystack", {"depths": [0, 1]}, "depths"),
    ("heads", {"multiples": [1, 8]}, "data.vocabulary.keys"),
    ("kv", {"depths": []}, "depths"),
    ("kv-query", {"multiples": [1, 8]}, "data.vocabulary.keys"),
    ("kv-query", {"multiples": [0.21875, 1]}, ""),
    ("kv-several", {"multiples": [1, 8]}, "data.vocabulary.keys"),
    ("kv-wide", {"width": 7, "pool": 4}, "width"),
    ("kv-wide", {"width": 5, "pool": 60}, "pool"),
    ("kv-wide", {"pool": 2}, "pool"),
    ("long-loss", {"multiples": [0.5, 1]}, "multiples"),
    ("long-loss", {"multiples": [1, 64]}, "data.corpus.path"),
    ("lost-in-the-middle", {"generate": 7}, "generate"),
    ("mqar", {"pairs": [9]}, "pairs"),
    ("mqar", {"pairs": [17], "multiples": [1, 8]}, "pairs"),
    ("multidoc", {"multiples": [0.25, 1]}, "facts"),
    ("needle", {"multiples": [1, 8]}, "data.vocabulary.keys"),
    ("needle", {"ask": ["padded"], "multiples": [0.25, 1]}, "pairs"),
    ("nth", {"copies": 8, "multiples": [0.5, 1]}, "copies"),
    ("recall", {"span": 31}, "span"),
    ("repeat", FEW | {"period": 0.01}, "period"),
    ("rotary", {"multiples": [0.5, 1]}, "multiples"),
    ("rotary", {"multiples": [1, 128]}, "data.corpus.path"),
    ("sinks", {"multiples": [0.25, 1]}, "pairs"),
    ("trace", {"hops": [5]}, "hops"),
    ("trace", {"multiples": [1, 8]}, "data.vocabulary.keys"),
]
GATED = [name for name in names("task") if "trials" in node("task", name)]
UNGATED = {"algorithmic", "lost-in-the-middle", "multidoc-qa", "parity"}


def task(name: str, options: dict) -> Task:
    return made(node("task", name) | options, f"task.{name}")


def refused(name: str, options: dict, vocabulary: Vocabulary) -> str:
    """Returns the option that the check names, without `task.<name>.`."""
    asked = task(name, options)
    with pytest.raises(UserError) as error:
        asked.check(Setting(Texts(np.zeros((3, 1000))), vocabulary, L))
    assert "\n" not in str(error.value)
    return error.value.option.removeprefix(f"task.{name}").removeprefix(".")


@pytest.mark.parametrize("name, options, option", CASES)
def test_what_does_not_suit_is_refused_by_name(name, options, option):
    assert refused(name, options, Vocabulary(keys=64, values=16)) == option


@pytest.mark.parametrize(
    "name", [*sorted({*GATED} - UNGATED), "context-gain", "diagnostics", "heads", "needle"]
)
def test_the_multiples_include_the_training_length(name):
    assert refused(name, {"multiples": [2]}, Vocabulary(keys=256, values=64)) == "multiples"


@pytest.mark.parametrize("name", ["kv", "haystack", "multidoc", "nth", "sinks", "kv-wide"])
def test_a_corpus_shorter_than_the_longest_context_is_named(name):
    setting = Setting(Texts([np.zeros(40)]), Vocabulary(), L)
    with pytest.raises(UserError) as error:
        task(name, {"multiples": [1, 2]}).check(setting)
    assert error.value.option == "data.corpus.path"


@pytest.mark.parametrize(
    "name, options", [("diagnostics", {"layers": [2, 2]}), ("parity", {"depths": []})]
)
def test_lists_of_nothing_or_of_the_same_are_refused(name, options):
    with pytest.raises(UserError, match=f"task.{name}.{next(iter(options))}"):
        task(name, options)


def test_several_needles_need_values():
    assert refused("haystack", {}, Vocabulary(keys=64, values=3)) == "needles"
