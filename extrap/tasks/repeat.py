"""Repeated and non-repeated text: does a reader find again what stands one text length back?
https://kexue.fm/archives/9708.

A window of n tokens reads BOS, y[0], ..., y[n-2] and predicts y[0], ..., y[n-1]. u = period * L, L
the training length:

    nonrepeated    y = x[s], ..., x[s+n-1]                a text that is naturally that long, scored
                   whole
    repeated       y = x[s], ..., x[s+u-1], x[s], ...     the first u of these tokens over and over,
                   scored whole; n > u
    later          the same readings, second and later copies only: y[u], ...
    within         n = L, u = L/2, the second copy only: no position is new, so what is missing here
                   was never learned

Windows start at s = 0, n, 2n, ... within the first tokens of each document, as many as the longest
evaluated length has. A model without a circuit that copies text has nothing to show in a repeated
text; `gain` says whether there is one.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Gt
from torch import Tensor
from torch.nn import functional as F

from extrap.tasks.base import Model, Result, Setting
from extrap.tasks.scoring.answers import finite
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import Losses, Plan, TextLoss, TextWindow


@dataclass(frozen=True, kw_only=True)
class Repeat(TextLoss):
    """Accuracy of the most likely token, over the whole vocabulary, and nll in nats per token.

    Args:
        period: tokens of a repeated text over the training length

    The other options and intervals: extrap.tasks.scoring.text_loss.

    Metrics, one row each:

    accuracy, nll    of each protocol and length; a loss that is no longer a finite number has the
                     status diverged
    gain             accuracy of `within` less the accuracy on running text in the same slots,
                     paired by document. Unless its interval lies above 0 the model does not copy
                     text even inside L: its repeated columns say nothing about length, and all rows
                     but the rows of nonrepeated have the status `not trained`

    Items: correct, nll_sum (nats) and tokens of each document.
    """

    name: ClassVar[str] = "repeat"
    asks: ClassVar = "logits"
    least: ClassVar[float] = 1

    period: Annotated[float, Gt(0)] = 1.0

    def reach(self, train_length: int) -> tuple[int, str]:
        return max(self.lengths(train_length)), "the longest"

    def check(self, setting: Setting) -> None:
        super().check(setting)
        L = setting.length
        longest = max(self.lengths(setting.length))
        if not 1 <= self.period * L < longest:
            least = 1 / L
            most = longest / L
            problem = f"expected from {least:g}, one token, to below {most:g}, the longest length"
            raise self.error("period", problem, "give a period in that range")

    def plans(self, train_length: int) -> dict[Any, Plan]:
        L = train_length
        half = L // 2
        ns = self.lengths(train_length)
        longest = ns[-1]
        u = round(self.period * L)

        def windows(n: int, scored: int) -> list[TextWindow]:
            ends = range(n, longest + 1, n)
            return [TextWindow(n, scored, end) for end in ends]

        plans: dict[Any, Plan] = {}
        for n in ns:
            plans[n, n, "whole"] = {"nonrepeated": windows(n, n)}
        for n in ns:
            if n > u:
                repeated = windows(n, n)
                later = windows(n, n - u)
                plans[n, u, "whole"] = {"repeated": repeated, "later": later}
        last_half = windows(L, L - half)
        plans[L, L, "half"] = {"running": last_half}
        plans[L, half, "half"] = {"within": last_half}
        return plans

    def reads(
        self, group: Any, model: Model, text: np.ndarray, train_length: int
    ) -> tuple[Model, np.ndarray]:
        n, period, _ = group
        documents, length = text.shape
        end = length // n * n
        windows = text[:, :end].reshape(documents, -1, n)
        places = np.arange(n) % period
        repeated = windows[:, :, places]
        return model, repeated.reshape(documents, -1)

    def scores(self, model: Model, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns (B, w, 2): whether the most likely token is right, and the loss in nats."""
        logits = model(tokens, last=targets.shape[1])
        dtype = torch.promote_types(logits.dtype, torch.float32)
        logits = logits.to(dtype)
        targets = targets.to(logits.device)
        by_id = logits.transpose(1, 2)
        losses = F.cross_entropy(by_id, targets, reduction="none")
        likely = logits.argmax(-1)
        equal = (likely == targets).to(losses)
        correct = equal.where(finite(logits), torch.nan)
        return torch.stack([correct, losses], -1)

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        recorder = Recorder()
        L = train_length
        half = L // 2
        u = round(self.period * L)
        period = np.array([u])
        running_text = read.pop((L, L, "half"))
        scores, _ = running_text.of("running")
        running = scores[..., 0].sum(1)
        for (n, _, _), losses in read.items():
            for protocol in losses.plan:
                cell = recorder.at(protocol=protocol, length=n)
                scores, places = losses.of(protocol)
                correct, nats = scores.sum(1).T
                tokens = len(places)
                finite_nats = np.isfinite(nats).all()
                right = np.where(finite_nats, correct, np.nan)
                cell.per_token("accuracy", right, tokens)
                cell.per_token("nll", nats, tokens)
                items = {"correct": right, "nll_sum": nats}
                cell.documents(items, tokens, losses.text, period)
        scores, places = read[L, half, "half"].of("within")
        within = scores[..., 0].sum(1)
        cell = recorder.at(protocol="within", length=L)
        low, _ = cell.per_token("gain", within - running, len(places))
        return recorder.result(lambda protocol: low > 0 or protocol == "nonrepeated")
