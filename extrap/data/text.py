"""Windows of running text."""

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.part import Drawn, Part, Size


@dataclass(frozen=True, kw_only=True)
class Text(Part):
    """Language modelling: every token after BOS is scored.

    Args:
        size: windows per step

    A window is cut from the documents in a row, from any place: it may hold the end of one and the
    beginning of the next, without a token between.
    """

    size: Size = 16

    def draw(self, context: Context, difficulty: float) -> Drawn:
        text = context.texts(self.size, context.length)
        bos = np.full((self.size, 1), context.vocabulary.bos)
        sequences = np.concatenate([bos, text], axis=1)
        return sequences, np.ones(text.shape, bool)
