"""What all tasks share, and that a YAML is a constructor call written down."""

import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from extrap.data.vocabulary import Vocabulary
from extrap.runs.build import find
from extrap.tasks.base import AtLengths, Diagnostic, Setting, Task, batches, lengths
from tests.support.discover import CONF, made, names, node
from tests.support.hand import Texts


@pytest.mark.parametrize("name", names("task"))
def test_yaml_holds_every_parameter_with_its_default(name):
    options = node("task", name)
    task = made(options, f"task.{name}")
    assert isinstance(task, Task)
    defaults = {k: p.default for k, p in inspect.signature(type(task)).parameters.items()}
    assert {
        k: tuple(v) if isinstance(v, list) else v for k, v in options.items() if k != "_target_"
    } == defaults


def bare(hint):
    """Whether numbers stand in an annotation without bounds."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[0] not in (int, float) and bare(get_args(hint)[0])
    return hint in (int, float) or any(map(bare, get_args(hint)))


@pytest.mark.parametrize("name", names("task"))
def test_options_are_bounded_in_the_signature(name):
    """A number without a bound is one that any value fits: say so where none does."""
    kind = type(made(node("task", name), f"task.{name}"))
    assert is_dataclass(kind) and kind.__dataclass_params__.frozen
    assert {f.kw_only for f in fields(kind)} == {True}
    assert kind.name == name
    for option, hint in get_type_hints(kind.__init__, include_extras=True).items():
        assert not bare(hint), f"{option} has no bounds"


def targets():
    files = (CONF / "data").rglob("*.yaml")
    found = re.findall(r"_target_: (extrap\.data\.\S+)", "".join(f.read_text() for f in files))
    return sorted({*found} - {"extrap.data.mixture.Mixture"})  # its length is checked by its parts


@pytest.mark.parametrize("target", targets())
def test_options_of_data_are_bounded_in_the_signature(target):
    """No constructor checks numbers by itself."""
    hints = get_type_hints(find(target, "data").__init__, include_extras=True)
    for option, hint in hints.items():
        assert not bare(hint), f"{option} has no bounds"


def of_retrieval(name):
    """Tasks at several lengths that are no loss of text and look into no model."""
    kind = type(made(node("task", name), f"task.{name}"))
    return (
        issubclass(kind, AtLengths) and not issubclass(kind, Diagnostic) and not kind.learned_from
    )


@pytest.mark.parametrize("name", [*filter(of_retrieval, names("task"))])
def test_a_quarter_of_the_training_length_can_be_asked(name):
    """Inside the window the U is said to be strongest (arXiv 2508.07479)."""
    options = node("task", name) | {"multiples": [0.25, 0.5, 0.75, 1]}
    task = made(options, f"task.{name}")
    task.check(Setting(Texts([np.zeros(1000)]), Vocabulary(), 128))
    assert task.lengths(128) == [32, 64, 96, 128]


def test_lengths_round_halves_up():
    assert lengths([1, 1.25, 1.5, 16], 10) == [10, 13, 15, 160]


@pytest.mark.parametrize("n", [0, 1, 7, 8])
@pytest.mark.parametrize("batch_tokens", [1, 30, 1000])
def test_batches_cover_everything_once(n, batch_tokens):
    found = list(batches(n, 10, batch_tokens))
    assert [i for rows in found for i in range(n)[rows]] == list(range(n))
    assert all(rows.stop - rows.start <= max(1, batch_tokens // 10) for rows in found)
