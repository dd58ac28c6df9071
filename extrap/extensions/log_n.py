"""Clipped log-n scaling of a model trained without it: c_i = max(1, ln(n_i) / ln(L)), n_i keys
visible to query i.

https://kexue.fm/archives/9706. It keeps the entropy of attention from growing with the text.
Nothing changes up to L, and biases keep their size.
"""

from dataclasses import replace

import torch

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme, place
from extrap.schemes.chunked import StepHeat
from extrap.schemes.entmax import ASEntmax
from extrap.schemes.log_n import LogN
from extrap.schemes.ssmax import AffineSSMax, SSMax

GROWING = LogN | SSMax | AffineSSMax | StepHeat | ASEntmax
"""Parts that heat logits by the number of keys already."""


class ClippedLogN(SchemeExtension):
    """Works with every scheme of softmax attention whose queries see more than L keys, and whose
    logits do not grow with their number already.

    Source: https://kexue.fm/archives/9706
    """

    def extend(self, scheme: Scheme) -> Scheme:
        if any(isinstance(part, GROWING) for part in parts(scheme)):
            raise self.refuse(scheme, "its logits grow with ln n already")
        if scheme.uses("normalise"):
            raise self.refuse(scheme, "its attention is no softmax, whose entropy this keeps")
        if scheme.limit <= scheme.shape.length:
            raise self.refuse(
                scheme, "nothing is defined past the training length, where log-n would begin"
            )
        if most_seen(scheme) <= scheme.shape.length:
            raise self.refuse(scheme, "no query sees more than L keys")
        return with_parts(scheme, LogN(scheme.shape, floor=1.0))


def most_seen(scheme: Scheme) -> int:
    """Returns how many keys the last query of 2 L tokens sees in the layer where it sees most."""
    n = 2 * scheme.shape.length
    at = place(scheme, torch.arange(n, dtype=torch.float64))
    return max(
        int(replace(at, layer=layer).block(n - 1, n).count) for layer in range(scheme.shape.layers)
    )
