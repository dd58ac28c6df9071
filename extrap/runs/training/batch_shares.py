"""A batch divided among processes, and among the forwards of each.

A step is one update of the weights from one batch, on any number of devices. Share r of n is every
n-th window of each part, from window r on: `trainer.devices` x `trainer.num_nodes` processes have a
share each, which `trainer.accumulate_grad_batches` forwards divide again. Gradients are averaged
over shares, and the loss of a share counts by the tokens that it scores. The average is therefore
the gradient of the whole batch, up to rounding.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from extrap.data.mixture import Batch


class Counts(NamedTuple):
    """Weights of a share in means over the targets of a part, 1 on average over the shares of a
    batch: over all targets, over targets that are scored once, over echoes.
    """

    every: float = 1.0
    scored: float = 1.0
    echoes: float = 1.0


@dataclass
class Share(Batch):
    """Some windows of a batch: those of forward `turn` of the `turns` that a process makes."""

    turn: int = 0
    turns: int = 1
    counts: dict[str, Counts] = field(default_factory=dict)

    @property
    def last(self) -> bool:
        """True if the weights are updated after this forward."""
        return self.turn == self.turns - 1


def counted(mean: Tensor, count: float) -> Tensor:
    """Returns a mean with its weight. An undefined mean, over no target, has weight 0."""
    if count == 1.0:
        return mean
    return mean * count if count else torch.nan_to_num(mean) * 0.0


def share(batch: Batch, rank: int, n: int, turn: int = 0, turns: int = 1) -> Share:
    """Returns share `rank` of `n`: every n-th window of each part."""
    if n == 1:
        return Share(**vars(batch))
    kept = [torch.arange(rows.start + rank, rows.stop, n) for rows in batch.parts.values()]
    parts, at = {}, 0
    for name, rows in zip(batch.parts, kept, strict=True):
        parts[name] = slice(at, at + len(rows))
        at += len(rows)
    rows = torch.cat(kept)
    early = None if batch.early is None else batch.early[rows]
    divided = Share(
        batch.tokens[rows],
        batch.targets[rows],
        parts,
        early,
        weights=batch.weights,
        turn=turn,
        turns=turns,
    )
    for name in parts:
        scored, echoes = len(divided.scored[name]), len(divided.echoes[name])
        all_scored, all_echoes = len(batch.scored[name]), len(batch.echoes[name])
        divided.counts[name] = Counts(
            n * (scored + echoes) / max(1, all_scored + all_echoes),
            n * scored / max(1, all_scored),
            n * echoes / max(1, all_echoes),
        )
    return divided
