"""A batch divided among processes, and among the forwards of each.

A step updates the weights from one batch on any number of devices. Share r of n is every n-th
window of each part, from window r on: `trainer.devices` x `trainer.num_nodes` processes have a
share each, divided again by `trainer.accumulate_grad_batches`. The loss of a share counts by the
tokens that it scores, so that the average of gradients over shares is that of the whole batch, up
to rounding.
"""

from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from extrap.data.mixture import Batch


class Counts(NamedTuple):
    """Weights of a share in means over the targets of a part, 1 on average over shares: over all
    targets, over targets that are scored once, over echoes.
    """

    every: float = 1.0
    scored: float = 1.0
    echoes: float = 1.0


@dataclass
class Share(Batch):
    """Some windows of a batch, for forward `turn` of the `turns` of a process."""

    turn: int = 0
    turns: int = 1
    counts: dict[str, Counts] = field(default_factory=dict)

    @property
    def last(self) -> bool:
        """True if the weights are updated after this forward."""
        return self.turn == self.turns - 1


def counted(mean: Tensor, count: float) -> Tensor:
    """Returns a mean times its weight; 0 for an undefined mean, over no target."""
    if count == 1.0:
        return mean
    return mean * count if count else torch.nan_to_num(mean) * 0.0


def share(batch: Batch, rank: int, n: int, turn: int = 0, turns: int = 1) -> Share:
    """Returns share `rank` of `n`: every n-th window of each part."""
    if n == 1:
        return Share(**vars(batch))
    kept = [torch.arange(rows.start + rank, rows.stop, n) for rows in batch.parts.values()]
    ends = [0, *accumulate(map(len, kept))]
    parts = dict(zip(batch.parts, map(slice, ends, ends[1:]), strict=True))
    rows = torch.cat(kept)
    early = None if batch.early is None else batch.early[rows]
    divided = Share(batch.tokens[rows], batch.targets[rows], parts, early,
                    weights=batch.weights, turn=turn, turns=turns)  # fmt: skip
    for name in parts:
        scored, echoes = len(divided.scored[name]), len(divided.echoes[name])
        all_scored, all_echoes = len(batch.scored[name]), len(batch.echoes[name])
        pairs = (scored + echoes, all_scored + all_echoes), (scored, all_scored)
        shares = (n * own / max(1, whole) for own, whole in (*pairs, (echoes, all_echoes)))
        divided.counts[name] = Counts(*shares)
    return divided
