"""DroPE: positions as a scaffold of training. Afterwards the method drops them and tunes the model
for a while at its training length. arXiv 2512.12167.

It drops the parts that turn pairs of channels: RoPE becomes NoPE, RoPE with log-n becomes log-n.
Untuned it is a control; `finetune=full extension=drope` recalibrates on windows of L tokens,
because the method has no factor.
"""

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.model.spectrum import still, turns_pairs
from extrap.schemes.nope import NoPE


class DroPE(SchemeExtension):
    """DroPE: what turns is dropped, and the model is tuned without it.

    Works with parts that turn pairs of channels and do not own attention. Changes the model
    inside L. It leaves out the paper's norms of queries and keys and its temperatures past L, which
    some of its runs use.
    """

    def extend(self, scheme: Scheme) -> Scheme:
        turning = [part for part in parts(scheme) if turns_pairs(part)]
        if not turning:
            raise ValueError(f"{still(scheme)}, so there is nothing to drop")
        if any(part.uses("attend") for part in turning):
            raise ValueError("the part that turns owns attention, and nothing would be left of it")
        return replace_parts(scheme, turns_pairs, lambda part: NoPE(part.shape))
