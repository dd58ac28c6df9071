"""Cards, captions and texts of --help are docstrings, which `python -OO` leaves out."""

import pytest

from tests.support.program import python

TOLD = """
import extrap.cli.plot, extrap.figures.kv_length, extrap.schemes.rope as rope, extrap.schemes.alibi
from extrap import figures
from extrap.utils.docs import docstring, own_docstring
print(docstring(extrap.cli.plot), docstring(rope), docstring(rope.RoPE))
print(figures.caption(extrap.figures.kv_length))
class Bare(rope.RoPE): pass
print(docstring(Bare) == docstring(rope.RoPE), own_docstring(rope.RoPE) != "", own_docstring(Bare))
"""


@pytest.mark.turns
@pytest.mark.parametrize("level", ["1", "2"])
@pytest.mark.sample(1)
def test_docstrings_are_the_same_without_docstrings(level):
    told = [python("-B", "-c", TOLD, PYTHONOPTIMIZE=optimize).stdout for optimize in ("0", level)]
    assert "RoPE" in told[0] and told[0].endswith("True True \n")
    assert told[0] == told[1]
