"""WavePrune on a trained model: each pair counts for keys nearer than one of its periods alone.
arXiv 2610.06963. The formula is in extrap/schemes/wave_prune.py.
"""

from torch import Tensor

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.extensions.ms_poe import plain_rotary
from extrap.model.parts import parts
from extrap.model.rotary import Rotary
from extrap.model.scheme import Scheme
from extrap.schemes.wave_prune import OnePeriod
from extrap.utils.bounds import Positive


class WavePruning(SchemeExtension):
    """WavePrune on a trained model: a pair counts for keys nearer than one of its periods.

    Args:
        periods: the window of a pair in its periods; the paper has 1

    Works with members of the RoPE family whose pairs turn by theta_p per token. It has no factor,
    needs no tuning, and changes the model inside L: fast pairs turn more than once there.
    """

    def __init__(self, periods: Positive = 1.0):
        self.periods = periods

    def extend(self, scheme: Scheme) -> Scheme:
        if not any(plain_rotary(part) for part in parts(scheme)):
            raise ValueError("no queries and keys turn there by an angle per token")
        return replace_parts(scheme, plain_rotary, lambda part: Pruned(part, self.periods))


class Pruned(OnePeriod):
    """A rotary part with its frequencies as they are, and the score of WavePrune.

    Kind: relative
    Past L: defined; slow pairs meet angles never trained, none of them twice
    """

    def __init__(self, part: Rotary, periods: float):
        Scheme.__init__(self, part.shape)
        self.base, self.layout, self.turned = part.base, part.layout, part.turned
        self.published, self.louder = part.published, part.louder
        self.part, self.periods = part, periods

    def spectrum(self, n: int) -> Tensor | None:
        return self.part.spectrum(n)
