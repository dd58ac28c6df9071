"""Windows of running text."""

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.part import Drawn, Part, Size, Weight


@dataclass(frozen=True, kw_only=True)
class Text(Part):
    """Language modelling: every token after BOS is scored. size: windows per step; weight: of its
    mean loss in the sum.
    """

    size: Size = 16
    weight: Weight = 2.0

    def draw(self, context: Context, difficulty: float) -> Drawn:
        text = context.texts(self.size, context.length)
        bos = np.full((self.size, 1), context.vocabulary.bos)
        return np.concatenate([bos, text], axis=1), np.ones(text.shape, bool)
