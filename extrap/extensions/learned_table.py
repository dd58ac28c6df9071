"""A learned table past its end: its last row, interpolation, or pairs of rows.
https://kexue.fm/archives/7947.

The scheme has the same three policies (schemes/learned.py), here for a table trained without one.
Rows of trained positions stay the same, so that nothing changes up to L.
"""

from typing import Literal

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.schemes.learned import Learned, Policy


class LearnedTable(SchemeExtension):
    """A policy for a learned table past its last row.

    Args:
        policy: clamp, interpolate (for T > L) or hierarchical (up to L**2 positions)

    Works with tables added to the tokens, alone or in a stack.
    """

    layers = "all"
    """The table acts before the first layer, local or not."""

    def __init__(self, policy: Literal["clamp", "interpolate", "hierarchical"]):
        self.policy: Policy = policy

    def extend(self, scheme: Scheme) -> Scheme:
        if not any(isinstance(part, Learned) for part in parts(scheme)):
            raise ValueError("it has no learned table of positions added to the tokens")
        return replace_parts(scheme, lambda part: isinstance(part, Learned), self._read)

    def _read(self, table: Learned) -> Learned:
        table.policy = self.policy
        return table
