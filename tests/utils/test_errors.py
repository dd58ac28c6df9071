"""The line that an error is printed as."""

import pickle

import pytest

from extrap.utils.errors import NotApplicable, UserError

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


def test_a_remedy_is_worked_out_for_the_whole_line_alone() -> None:
    asked = []
    error = NotApplicable("extension", "pi", "needs RoPE", lambda: asked.append(1) or "give alibi")
    assert error.why == "extension=pi: needs RoPE" and not asked
    assert str(error) == "extension=pi: needs RoPE; give alibi"
