"""A gap in the coordinates: which distances a model can handle, measured with a short text.

The text has 2 n tokens, n = share * L, L the training length. Between the halves the coordinates
jump, so that the second half begins at m L in place of n. The n predictions of the second half are
scored:

    jump     the second half at m L, the first where it was: every distance between the halves is
             one that a text of m L + n tokens has, without the text in between
    none     no jump: m L = n
    alone    the second half after BOS, without the first: the cost of having no context

Every distance costs a text of 2 n tokens, where a long text costs its length or its square.
Windows, chunks and the places in a cache (StreamingLLM) count the tokens that are left out, as they
would in the long text. An extension that depends on the length of the text (dynamic NTK) sees 2 n
tokens, and a temperature counts the keys that are there. A scheme that draws its positions itself
has no rows of `jump`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from extrap.tasks.base import Diagnostic, Inside, Model, Result, Setting
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import Losses, Plan, TextLoss, TextWindow
from extrap.utils.bounds import Fraction, Multiples


@dataclass(frozen=True, kw_only=True)
class Gap(TextLoss, Diagnostic):
    """Loss of the second half, and its change against no jump.

    Args:
        multiples: where the second half begins, over the training length
        share: tokens of a half over the training length

    The other options, intervals and items: extrap.tasks.scoring.text_loss.

    Metrics, the row's length being m L:

    nll, bits_per_byte    of each protocol
    change                nats per token above `none`, paired by document
    """

    name: ClassVar[str] = "gap"

    multiples: Multiples = (0.5, 1, 1.5, 2, 4, 8)
    share: Fraction = 0.25

    def half(self, train_length: int) -> int:
        """Returns n, the tokens of a half."""
        return round(self.share * train_length)

    def reach(self, train_length: int) -> tuple[int, str]:
        return 2 * self.half(train_length), "twice task.gap.share"

    def check(self, setting: Setting) -> None:
        n = self.half(setting.length)
        if n < 1:
            problem = f"this share of {setting.length} training tokens is no token"
            raise self.error("share", problem, "give a larger share")
        if self.lengths(setting.length)[0] <= n:
            problem = f"the second half begins after the first, task.gap.share={self.share:g}"
            raise self.error("multiples", problem, "leave smaller ones out")
        super().check(setting)

    def plans(self, train_length: int) -> dict[Any, Plan]:
        n = self.half(train_length)
        whole = TextWindow(2 * n, n, 2 * n)
        alone = TextWindow(n, n, 2 * n)
        plans: dict[Any, Plan] = {}
        plans["none", n] = {"none": [whole]}
        plans["alone", n] = {"alone": [alone]}
        for m in self.lengths(train_length):
            plans["jump", m] = {"jump": [whole]}
        return plans

    def reads(
        self, group: Any, model: Inside, text: np.ndarray, train_length: int
    ) -> tuple[Model, np.ndarray]:
        n = self.half(train_length)
        _, start = group
        jumped = partial(model.jumped, after=n, jump=start - n)
        return jumped, text

    def reads_at_once(self, row: Mapping[str, Any], train_length: int) -> int:
        return 2 * self.half(train_length)

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        recorder = Recorder()
        n = self.half(train_length)
        plain = None
        if ("none", n) in read:  # twice n tokens, which a table of positions may not hold
            losses, _ = read["none", n].of("none")
            plain = losses.sum(1)
        for (protocol, start), losses in read.items():
            cell = recorder.at(protocol=protocol, length=start)
            found, places = losses.of(protocol)
            losses.report(cell, found, places)
            if protocol == "none" or plain is None:
                continue
            change = found.sum(1) - plain
            if np.isfinite(change).all():
                cell.per_token("change", change, n)
        return recorder.result()
