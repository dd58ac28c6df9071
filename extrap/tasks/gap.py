"""A gap in the coordinates: which distances a model can handle, measured with a short text.

The text has 2 n tokens, n = share * L, L the training length. Between the halves the coordinates
jump, so that the second half begins at m L in place of n. The n predictions of the second half are
scored:

    jump     the second half at m L, the first where it was: every distance between the halves is
             one that a text of m L + n tokens has, without the text in between
    none     no jump: m L = n
    alone    the second half after BOS, without the first: the cost of having no context

Every distance costs a text of 2 n tokens, where a long text costs its length or its square. Windows
and chunks count the tokens that are left out, as they would in the long text. An extension that
depends on the length of the text (dynamic NTK) sees 2 n tokens.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch

from extrap.tasks.base import Counter, Diagnostic, Inside, Result, batches, losses_of
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import TextLoss, inputs
from extrap.utils.bounds import Fraction, Multiples


@dataclass(frozen=True, kw_only=True)
class Gap(TextLoss, Diagnostic):
    """Loss of the second half, and its change against no jump.

    multiples: where the second half begins, over the training length; share: tokens of a half over
    the training length; the other options, intervals and items: extrap.tasks.scoring.text_loss.
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

    def check(self, corpus, vocabulary, train_length) -> None:
        n = self.half(train_length)
        if n < 1:
            problem = f"this share of {train_length} training tokens is no token"
            raise self.error("share", problem, "give a larger share")
        if self.lengths(train_length)[0] <= n:
            problem = f"the second half begins after the first, task.gap.share={self.share:g}"
            raise self.error("multiples", problem, "leave smaller ones out")
        super().check(corpus, vocabulary, train_length)

    def run(self, model: Inside, corpus, vocabulary, train_length, progress) -> Result:
        n = self.half(train_length)
        text, sizes = self.texts(corpus, train_length)
        scored, sizes = text[:, n:], sizes[:, n:].sum(1)
        places = self.lengths(train_length)
        recorder, counter = Recorder(), Counter(progress, (2 * len(places) + 3) * text.size // 2)

        def losses(targets: np.ndarray, jump: int) -> np.ndarray:
            """(documents,) nats of the last n targets."""
            jumped, sums = partial(model.jumped, after=n, jump=jump), np.zeros(len(text))
            for rows in batches(len(text), targets.shape[1], self.batch_tokens):
                y = torch.from_numpy(targets[rows])
                nats = losses_of(jumped, inputs(y, vocabulary.bos), y[:, -n:])
                sums[rows] = nats.double().sum(1).cpu().numpy()
                counter(y.numel())
            return sums

        plain = losses(text, 0)
        recorder.at(protocol="none", length=n).loss(plain, n, sizes, scored)

        def report(cell: Recorder, sums: np.ndarray) -> None:
            cell.loss(sums, n, sizes, scored)
            if np.isfinite(sums - plain).all():
                cell.per_token("change", sums - plain, n)

        report(recorder.at(protocol="alone", length=n), losses(scored, 0))
        for length in places:
            with recorder.at(protocol="jump", length=length).within_range() as cell:
                report(cell, losses(text, length - n))
        counter.up_to(counter.total)
        return recorder.result()
