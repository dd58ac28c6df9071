"""Clipped log-n scaling of a model trained without it: c_i = max(1, ln(n_i) / ln(L)), n_i keys
visible to query i.

https://kexue.fm/archives/9706. It keeps the entropy of attention from growing with the text.
Nothing changes up to L, and biases keep their size.
"""

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.schemes.chunked import StepHeat
from extrap.schemes.entmax import ASEntmax
from extrap.schemes.log_n import LogN
from extrap.schemes.ssmax import AffineSSMax, SSMax

GROWING = LogN | SSMax | AffineSSMax | StepHeat | ASEntmax
"""Parts that heat logits by the number of keys already."""


class ClippedLogN(SchemeExtension):
    """Log-n scaling from L keys on, for a model trained without it.

    Works with every scheme of softmax attention whose queries see more than L keys, and whose
    logits do not grow with their number already.
    """

    def extend(self, scheme: Scheme) -> Scheme:
        if any(isinstance(part, GROWING) for part in parts(scheme)):
            raise ValueError("its logits grow with ln n already")
        if scheme.uses("normalise"):
            raise ValueError("its attention is no softmax, whose entropy this keeps")
        return with_parts(scheme, LogN(scheme.shape, floor=1.0))
