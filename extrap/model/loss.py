"""Cross-entropy of a head that holds the logits of a block of positions in place of all.

A block's gradient is known with its logits: g = softmax(logits) - onehot(target). The forward keeps
dL/d hidden (N, C) and the sum of dL/d head over blocks, and drops logits and g. A small text or
vocabulary is one block, which autograd differentiates as usual.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

LOGITS = {"cpu": 2**25, "cuda": 2**28}
"""Logits that a training holds at once, by device: a GPU adds up the gradient of the head, as large
as the head, after every block.
"""

Head = Callable[[Tensor], Tensor]
"""Hidden states (N, C) -> logits (N, vocab), of each position by itself."""


def mean_loss(head: Head, vocab: int, hidden: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean loss of targets (N,) in nats, in float32."""
    if _one_block(hidden, vocab):
        return F.cross_entropy(head(hidden).float(), targets)
    return _in_blocks(head, vocab, hidden, targets)[0]


def scored(
    head: Head, vocab: int, hidden: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the mean loss of targets (N,) in nats, in float32; and without gradient the loss of
    each, (N,), and whether its logit is the greatest, (N,) bool.
    """
    if not _one_block(hidden, vocab):
        return _in_blocks(head, vocab, hidden, targets)
    logits = head(hidden).float()
    losses = F.cross_entropy(logits, targets, reduction="none")
    return losses.mean(), losses.detach(), right(logits.detach(), targets)


def right(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns whether each row of logits (N, vocab) is greatest at its target (N,). A maximum and a
    look-up are faster than an argmax; a row of NaN is wrong.
    """
    return logits.amax(-1) == logits.gather(-1, targets[:, None])[:, 0]


def _one_block(hidden: Tensor, vocab: int) -> bool:
    return len(hidden) * vocab <= at_once(hidden.device)


def at_once(device: torch.device) -> int:
    """Returns how many logits a training holds at once on a device."""
    return LOGITS.get(device.type, LOGITS["cpu"])


def _in_blocks(
    head: Head, vocab: int, hidden: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    rows = max(1, at_once(hidden.device) // vocab)
    weights = _leaves(head(hidden[:1].detach()))
    return _Blocks.apply(head, rows, hidden, targets, *weights)  # type: ignore[return-value]


def _leaves(made: Tensor) -> list[Tensor]:
    """Returns the parameters that a tensor was made of: of a tied, an adapted, any head."""
    found: dict[int, Tensor] = {}
    nodes = [made.grad_fn]
    seen = set[Any]()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if (leaf := getattr(node, "variable", None)) is not None:
            found[id(leaf)] = leaf
        nodes += [before for before, _ in node.next_functions]
    return list(found.values())


class _Blocks(torch.autograd.Function):
    """The loss in blocks; `backward` scales the gradients that `forward` has computed."""

    @staticmethod
    def forward(
        ctx: Any, head: Head, rows: int, hidden: Tensor, targets: Tensor, *weights: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        losses = hidden.new_empty(len(hidden), dtype=torch.float32)
        hits = []
        of_hidden = torch.empty_like(hidden)
        of_weights = list[Tensor]()
        for start in range(0, len(hidden), rows):
            block = slice(start, start + rows)
            with torch.enable_grad():
                h = hidden[block].detach().requires_grad_()
                made = head(h)
            target = targets[block, None]
            log_p = F.log_softmax(made.detach().float(), -1)
            losses[block] = -log_p.gather(-1, target)[:, 0]
            hits.append(right(made.detach(), targets[block]))
            one = torch.ones_like(target, dtype=log_p.dtype)
            g = log_p.exp_().scatter_add_(-1, target, -one)
            found = torch.autograd.grad(made, [h, *weights], g.to(made.dtype))
            of_hidden[block] = found[0]
            if start == 0:
                of_weights = list(found[1:])
            else:
                for total, more in zip(of_weights, found[1:], strict=True):
                    total.add_(more)
        ctx.gradients = of_hidden, *of_weights
        every = torch.cat(hits)
        ctx.mark_non_differentiable(losses, every)
        return losses.mean(), losses, every

    @staticmethod
    def backward(ctx: Any, *of: Tensor) -> tuple[Tensor | None, ...]:
        scale = of[0] / len(ctx.gradients[0])
        gradients = ctx.gradients
        del ctx.gradients  # a step has one backward, and memory no room for a copy
        found = [gradient.mul_(scale) for gradient in gradients]
        return None, None, found[0], None, *found[1:]
