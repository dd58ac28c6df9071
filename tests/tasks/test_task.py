"""What all tasks share, and that a YAML is a constructor call written down."""

import inspect

import pytest

from extrap.runs.build import build
from extrap.utils.errors import UserError
from extrap.tasks.base import Task, batches, lengths
from tests.discover import names, node


@pytest.mark.parametrize("name", names("task"))
def test_yaml_holds_every_parameter_with_its_default(name):
    options = node("task", name)
    task = build(options, f"task.{name}")
    assert isinstance(task, Task)
    defaults = {k: p.default for k, p in inspect.signature(type(task)).parameters.items()}
    assert {k: tuple(v) if isinstance(v, list) else v for k, v in options.items() if k != "_target_"} == defaults


@pytest.mark.parametrize("name", names("task"))
def test_a_wrong_type_is_one_line(name):
    options = node("task", name)
    option = next(key for key, value in options.items() if isinstance(value, list))
    with pytest.raises(UserError, match=rf"^task\.{name}\.{option}=long: expected a list of (whole )?numbers$"):
        build(options | {option: "long"}, f"task.{name}")


def test_lengths_round_halves_up():
    assert lengths([1, 1.25, 1.5, 16], 10) == [10, 13, 15, 160]


@pytest.mark.parametrize("n", [0, 1, 7, 8])
@pytest.mark.parametrize("batch_tokens", [1, 30, 1000])
def test_batches_cover_everything_once(n, batch_tokens):
    found = list(batches(n, 10, batch_tokens))
    assert [i for rows in found for i in range(n)[rows]] == list(range(n))
    assert all(rows.stop - rows.start <= max(1, batch_tokens // 10) for rows in found)
