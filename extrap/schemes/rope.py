"""RoPE, rotary position embedding. arXiv 2104.09864.

q~_i = R_i q_i,   k~_j = R_j k_j,   theta_p = base**(-2p/D)
R_m turns pair p by m theta_p:  (a, b) -> (a cos - b sin, a sin + b cos)

<R_i q, R_j k> depends on i - j alone, |R_i q| = |q|, R_0 = I. Values are not rotated.
"""

from math import log, pi

from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class RoPE(Rotary):
    """Rotary position embedding: each pair of channels turns by its position times its frequency.

    Args:
        base: of the frequencies, above 1; null stands for the base matched to L (121 at L = 128);
            at 10000 most pairs never make a turn in a short training window

    Raises ValueError for an odd head width, a base of 1 or less and channels that
    the layout does not pair.

    Kind: relative
    Used by: Llama (half), GPT-J (interleaved), PaLM, Qwen, Mistral
    Past L: defined; slow pairs meet angles never trained, fails after 10 to 20 %
    """

    def __init__(self, shape: Shape, base: float | None = 10000.0, layout: Layout = "interleaved"):
        # by the matched base as many pairs turn once in L as by 10000 in 2048
        power = log(shape.length / (2 * pi)) / log(2048 / (2 * pi))
        matched = 10000.0**power
        super().__init__(shape, matched if base is None else base, layout)
