"""What an extension made of a scheme, as rows: wrong effective frequencies are a known cause of results nobody can repeat.

metric   axis       at                    protocol
theta    pair       p, over all parts     trained | used    radians per token
turns    pair       p                     trained | used    full circles within `length` tokens
bias     distance   0, 1, 2, 4, ..        trained | used    added logit, of each layer and head

`length` is the least of L, 2 L, 4 L, .. tokens from which a row holds.
"""

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from math import pi

import torch

from extrap.model.scheme import OutOfRange, Scheme
from extrap.model.spectrum import frequencies_used


def used(trained: Scheme, extended: Scheme, doublings: int = 4) -> list[dict]:
    """Rows of both schemes up to L * 2**doublings tokens; [] where there are neither pairs that turn nor a bias of the distance."""
    L = trained.shape.length
    rows = []
    for protocol, asked, lengths in (("trained", trained, [L]), ("used", extended, [L * 2**i for i in range(doublings + 1)])):
        scheme = deepcopy(asked).cpu().eval()
        for found in (_frequencies(scheme, lengths), _bias(scheme, lengths)):
            with suppress(OutOfRange):
                rows.extend({"protocol": protocol, "status": "ok"} | row for row in found)
    return rows


def _frequencies(scheme: Scheme, lengths: list[int]) -> Iterator[dict]:
    last = None
    for n in lengths:
        theta = frequencies_used(scheme, n)
        if theta is None or (last is not None and torch.equal(theta, last)):
            continue
        last = theta
        for p, value in enumerate(theta.tolist()):
            where = {"length": n, "axis": "pair", "at": float(p)}
            yield where | {"metric": "theta", "value": value}
            yield where | {"metric": "turns", "value": n * value / (2 * pi)}


@torch.no_grad()
def _bias(scheme: Scheme, lengths: list[int]) -> Iterator[dict]:
    d = torch.tensor([0] + [2**i for i in range(lengths[-1].bit_length())], dtype=torch.float64)
    for layer in range(scheme.shape.layers):
        bias = scheme.distance_bias(d, layer)
        for head, values in enumerate([] if bias is None else bias.double().tolist()):
            for at, value in zip(d.tolist(), values, strict=True):
                where = {"length": lengths[0], "axis": "distance", "at": at, "layer": layer, "head": head}
                yield where | {"metric": "bias", "value": value}
