"""Tuning on windows of L tokens whose coordinates spread over the longer text, so that all of its
distances come up. Coordinates in training, below `most` = factor L, for n tokens:

PoSE            0 .. r - 1, r + u .. n - 1 + u;   r in 1 .. (n + 1) / 2, u in 0 .. most - n, uniform
RandomisedYaRN  t_1 < .. < t_n, a sorted random subset of 0 .. most - 1
EndPrompt       0 .. n - m - 1, most - m .. most - 1;   m = terminal

Draws are new for each forward, shared by the texts of a batch, and come from torch's CPU generator.
Reading has coordinates as they are, under the method of the tuning.
"""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.extensions.by_parts import YaRN
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import draws_positions, frequencies_used

TERMINAL = 20
"""Tokens of the prompt of EndPrompt."""


class LaidOut(Scheme):
    """Coordinates of training, below `most`; evaluation reads at 0, 1, 2, ... as before.

    Args:
        lay_out: (coordinates t = 0 .. n - 1, most) -> coordinates of training
    """

    def __init__(self, shape: Shape, most: int, lay_out: Callable[[Tensor, int], Tensor]):
        super().__init__(shape)
        self.most = most
        self.lay_out = lay_out

    def positions(self, t: Tensor) -> Tensor:
        if self.training and len(t) < self.most:
            return self.lay_out(t, self.most)
        return t


class PoSE(SchemeExtension):
    """PoSE: tuning on windows of L tokens that skip a range of coordinates.

    Args:
        method: the extension to tune for; its factor is the length to tune for, over L

    Tuning uses windows of L tokens (tuned_at = 1) unless finetune.factor overrides it; untuned PoSE
    is its method. The paper skips text as well: its second chunk comes from later in the text, and
    here the text stays whole. Raises ValueError for a method whose factor is at most 1, and
    NotApplicable for one that follows the length of the text. Source: arXiv 2309.10400
    """

    layers = "all"
    tuned_at = 1.0

    def __init__(self, method: SchemeExtension):
        if method.factor is None or method.factor <= 1:
            raise ValueError(
                f"method.factor={method.factor}: give the number of training lengths to tune for, "
                "above 1"
            )
        self.method = method

    def effective(self, n: int, length: int) -> float:
        return self.method.effective(n, length)

    def lay_out(self, t: Tensor, most: int) -> Tensor:
        """Returns the coordinates in training of tokens at t = 0 .. n - 1."""
        n = len(t)
        half = (n + 1) // 2
        first = int(torch.randint(1, half + 1, ()))
        skipped = int(torch.randint(0, most - n + 1, ()))
        in_first = torch.arange(n, device=t.device) < first
        return torch.where(in_first, t, t + skipped)

    def extend(self, scheme: Scheme) -> Scheme:
        assert self.method.factor is not None
        L = scheme.shape.length
        if draws_positions(deepcopy(scheme).train()):
            raise ValueError("in training it draws its own positions and ignores PoSE's")
        longest = round(self.method.factor * L)
        laid_out = LaidOut(scheme.shape, longest, self.lay_out)
        skipping = with_parts(Scheme(scheme.shape), laid_out)
        own = getattr(scheme, "parts", [scheme])
        extended = self.method.applied(with_parts(skipping, *own))
        reading = deepcopy(extended).eval()
        tuned = frequencies_used(reading, L)
        read = frequencies_used(reading, 2 * L)
        if tuned is not None and read is not None and not torch.equal(tuned, read):
            raise ValueError(
                f"{type(self.method).__name__} turns pairs otherwise past L, and tuning reads L "
                "tokens"
            )
        return extended


class RandomisedYaRN(PoSE):
    """YaRN tuned on a sorted random subset of the coordinates of the longer text.

    Args:
        method: YaRN with its options

    PoSE skips positions once in a text, this method at every token.

    The paper raises the range of positions during tuning (a curriculum); here it is factor L from
    the first step on. Raises ValueError for another method, and as PoSE does. Source: arXiv
    2606.23687
    """

    def __init__(self, method: YaRN):
        super().__init__(method)
        if not isinstance(method, YaRN):
            raise ValueError(f"method={type(method).__name__}: give YaRN; for others take pose")

    def lay_out(self, t: Tensor, most: int) -> Tensor:
        drawn = torch.randperm(most)[: len(t)]
        return drawn.sort().values.to(t)


class EndPrompt(PoSE):
    """EndPrompt: tuning on windows whose last tokens stand at the end of the longer text.

    Args:
        method: as in PoSE
        terminal: m, tokens at the end; null stands for 20, as in the authors' scripts
            (github.com/clx1415926/EndPrompt), or half of a window of fewer than 40 tokens

    Distances between n and factor L - n never come up. The paper appends a short prompt of its own
    as the second part; here it is the last m tokens of the window, and the text stays whole. Raises
    ValueError as PoSE does, and NotApplicable unless 1 <= m < L. Source: arXiv 2605.14589
    """

    def __init__(self, method: SchemeExtension, terminal: int | None = None):
        super().__init__(method)
        self.terminal = terminal

    def lay_out(self, t: Tensor, most: int) -> Tensor:
        n = len(t)
        terminal = self.terminal
        if terminal is None:
            terminal = min(TERMINAL, n // 2)
        last = torch.arange(n, device=t.device) >= n - terminal
        return torch.where(last & (n > terminal), t + most - n, t)

    def extend(self, scheme: Scheme) -> Scheme:
        longest = scheme.shape.length - 1
        if self.terminal is not None and not 1 <= self.terminal <= longest:
            problem = f"from 1 to {longest}, below the training length"
            raise ValueError(f"terminal={self.terminal}: {problem}")
        return super().extend(scheme)
