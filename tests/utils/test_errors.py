"""The line that an error is printed as."""

import pickle

import pytest

from extrap.utils.errors import NotApplicable, UserError, choose

LINES = {
    "seed=-1: expected 0 or more; give seed=0": ("seed", -1, "expected 0 or more", "give seed=0"),
    "seed=null: expected 0 or more": ("seed", None, "expected 0 or more"),
    "a.yaml: not a file; remove it": ("a.yaml", ..., "not a file", "remove it"),
    "nothing to remove; add --runs": ("", ..., "nothing to remove", "add --runs"),
    "a whole line": ("a whole line",),
}


@pytest.mark.parametrize("line", LINES)
def test_the_line(line: str) -> None:
    error = UserError(*LINES[line])
    assert str(error) == line
    assert str(pickle.loads(pickle.dumps(error))) == line


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("seed=-1: too small; give seed=0", ("seed", "-1", "too small", "give seed=0")),
        ("data/corpus=x: no such corpus", ("data/corpus", "x", "no such corpus", "")),
        ("a.csv:3: cut off; delete it", ("a.csv:3", ..., "cut off", "delete it")),
        ("nothing here; add --runs: all", ("", ..., "nothing here", "add --runs: all")),
        ("a whole line", ("", ..., "a whole line", "")),
    ],
)
def test_a_whole_line_is_taken_apart(line: str, fields: tuple) -> None:
    error = UserError(line)
    assert (error.option, error.value, error.problem, error.remedy) == fields
    assert str(error) == line


def test_an_option_may_come_with_its_value() -> None:
    error = UserError("task.kv.path=a.jsonl", problem="empty")
    assert (error.option, error.value) == ("task.kv.path", "a.jsonl")
    assert str(error) == "task.kv.path=a.jsonl: empty"


def test_a_remedy_is_worked_out_for_the_whole_line_alone() -> None:
    asked = []
    error = NotApplicable("extension", "pi", "needs RoPE", lambda: asked.append(1) or "give alibi")
    assert error.why == "extension=pi: needs RoPE" and not asked
    assert str(error) == "extension=pi: needs RoPE; give alibi"


def test_letters_in_another_order_are_the_closest_name() -> None:
    assert choose("rpoe", ["alibi", "rope", "urpe"]).startswith("did you mean rope? ")
    assert choose("alib", ["alibi", "rope", "urpe"]).startswith("did you mean alibi? ")
