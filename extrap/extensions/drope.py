"""DroPE: positions are a scaffold of training; afterwards they are dropped, and the model is tuned
for a while at the length that it knows. arXiv 2512.12167.

What turns pairs of channels is left out: RoPE becomes NoPE, RoPE with log-n becomes log-n. Untuned
it is a control; `finetune=full extension=drope` recalibrates on windows of L tokens, because the
method has no factor.
"""

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.model.scheme import Scheme, parts
from extrap.model.spectrum import still, turns_pairs
from extrap.schemes.nope import NoPE


class DroPE(SchemeExtension):
    """Works with whatever turns pairs of channels and is not all of attention. Changes the model
    inside L. The norms of queries and keys and the temperatures past L that the paper uses in some
    of its runs are not here. Source: arXiv 2512.12167
    """

    def extend(self, scheme: Scheme) -> Scheme:
        turning = [part for part in parts(scheme) if turns_pairs(part)]
        if not turning:
            raise self.refuse(scheme, f"{still(scheme)}, so there is nothing to drop")
        if any(part.uses("attend") for part in turning):
            raise self.refuse(scheme, "what turns owns attention, and nothing would be left of it")
        return replace_parts(scheme, turns_pairs, lambda part: NoPE(part.shape))
