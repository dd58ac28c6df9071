"""The contracts of an extension on a scheme, in float64, in texts of up to 3 L. tests/contracts
holds every extension of extrap to them on every scheme that it takes, `extrap judge` yours on the
scheme that it extends.

Each takes a Pair and raises Broken.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property, partial

import torch
from torch import Tensor

from extrap.audit.contracts import NOT_CHECKED, Broken, Make, close, outcome
from extrap.extensions.base import Extension, Reader
from extrap.model.gpt import GPT
from extrap.utils.errors import OutOfRange

MEMORY = "memory grows linearly with the length"
NEEDS_CLONE = "it reads 32 L tokens; `pytest tests/contracts` checks it in a clone"
"""The contract that is left out here, and why."""
EXCUSED: dict[tuple[str, str], str] = {
    ("direct", "outside"): "changes nothing: the baseline",
    ("rerope", "inside"): "distances past w = L / 2 are others than in training",
    ("rerope-log-n", "inside"): "distances past w = L / 2 are others than in training",
    ("leaky-rerope", "inside"): "distances past w = L / 4 are others than in training",
    ("self-extend", "inside"): "distances past W = L / 2 are others than in training",
    ("string", "inside"): "made for texts within L: distances past S = L / 3 are others",
    ("dual-chunk", "inside"): "pairs of different chunks meet at other distances",
    ("drope", "inside"): "positions are dropped; tuning at L follows",
    ("clipped-rope", "inside"): "slow pairs stand still in short texts as well",
    ("clipped-rope-hard", "inside"): "slow pairs stand still in short texts as well",
    ("layer-factors", "inside"): "made for texts within L: distances are divided there",
    ("jet-long", "prefix"): "far keys lie in groups of T / L",
    ("wave-prune", "inside"): "fast pairs turn more than once within L",
    ("ms-poe", "inside"): "made for texts within L: heads are interpolated there",
    ("ms-poe", "prefix"): "heads are ranked by what the last query reads",
    ("randomised-stride", "inside"): "another choice among the trained positions",
    ("randomised-sampled", "inside"): "another choice among the trained positions",
    ("bias-interpolation", "prefix"): "distances are divided by T / L",
    ("learned-interpolate", "prefix"): "a longer text is squeezed more",
    ("crop", "prefix"): "windows are laid from the end of the text",
    ("nbce", "prefix"): "contexts are laid from the end of the text",
    ("parallel-windows", "prefix"): "windows are laid from the end of the text",
    ("pi-adaptive", "prefix"): "coordinates are divided by T / L",
    ("ntk-dynamic", "prefix"): "frequencies follow T / L; mode=row follows each query",
    ("yarn-dynamic", "prefix"): "frequencies and temperature follow T / L",
}
SLOWED = (
    *("pi", "pi-pair", "pose", "pose-yarn", "end-prompt", "randomised-yarn", "ntk", "llama3"),
    *("ntk-by-parts", "yarn", "yarn-all-layers", "yarn-turns", "ntk-su-old", "ntk-su-fixed"),
    *("ntk-su-mixed", "ntk-log-n", "ntk-su-old-log-n", "ntk-su-fixed-log-n"),
    "ntk-su-mixed-log-n",
)
EXCUSED |= {
    (name, "inside"): "a fixed factor slows the pairs in short texts as well" for name in SLOWED
}
"""By choice of extrap and contract: why the extension breaks it on purpose, on some or all schemes
that it takes.
"""


Logits = dict[int, Tensor | None]
"""By length; None where they are undefined."""


class Pair:
    """An extension on a model in float64. `reader` raises NotApplicable if the extension does not
    suit its scheme.

    known: logits of the plain model by length, which the pairs of a model share
    """

    def __init__(self, plain: GPT, extension: Extension, known: Logits | None = None):
        self.plain = plain
        self.extension = extension
        self.L = plain.scheme.shape.length
        self._known: Logits = {} if known is None else known
        self._ours: Logits = {}

    @cached_property
    def reader(self) -> Reader:
        """The extended model."""
        return self.extension(self.plain)

    def text(self, T: int, batch: int = 1) -> Tensor:
        vocab = self.plain.scheme.shape.vocab
        return torch.randint(vocab, (batch, T), generator=torch.Generator().manual_seed(0))

    def read(self, T: int, extended: bool = True) -> Tensor | None:
        """Logits of the first T tokens of the text; None where that is undefined."""
        found = self._ours if extended else self._known
        if T not in found:
            model = self.reader if extended else self.plain
            try:
                found[T] = model(self.text(3 * self.L)[:, :T])
            except OutOfRange:
                found[T] = None
        return found[T]

    def keeps(self, extended: bool) -> bool:
        """True if a prefix has the logits that it has in the longer text. The shorter text ends
        where no window does.
        """
        n = 2 * self.L - 5
        part, whole = self.read(n, extended), self.read(3 * self.L, extended)
        if part is None or whole is None:
            return True
        return torch.allclose(part, whole[:, :n], atol=1e-9, rtol=0)


def inside(pair: Pair) -> None:
    """within the training length it is the plain model"""
    L = pair.L
    ours, plain = pair.read(L), pair.read(L, extended=False)
    if ours is None:
        raise Broken("undefined")
    if plain is not None:
        close(ours, plain)


def outside(pair: Pair) -> None:
    """past the training length its logits are finite, and others than the plain ones"""
    L = pair.L
    ours, plain = pair.read(3 * L), pair.read(3 * L, extended=False)
    if ours is None:
        raise Broken("undefined")
    if not ours.isfinite().all():
        raise Broken("not finite")
    if plain is not None and torch.allclose(ours[:, L:], plain[:, L:], atol=1e-11, rtol=0):
        raise Broken("the plain model")


def prefix(pair: Pair) -> None:
    """the beginning of a text is read as if it stood alone, where the plain model does so"""
    if not pair.keeps(extended=True) and pair.keeps(extended=False):
        raise Broken("it moves with the text")


def repeats(pair: Pair) -> None:
    """a text gives the same logits again, and the last of them alone"""
    whole = pair.read(3 * pair.L)
    if whole is None:
        return
    x = pair.text(3 * pair.L)
    again = pair.extension(pair.plain)
    if not torch.equal(again(x), whole):
        raise Broken("not repeatable")
    close(again(x, last=3), whole[:, -3:])
    if isinstance(again, GPT):
        other = x.clone()
        other[:, 50:] = other[:, 50:].flip(1)
        alike = again.endings(torch.stack([other, x]), 3)
        close(alike, torch.stack([again(other, last=3), whole[:, -3:]]))


def batch(pair: Pair) -> None:
    """texts of a batch do not meet"""
    if pair.read(3 * pair.L) is not None:
        two = pair.text(2 * pair.L, batch=2)
        alone = [pair.reader(two[:1]), pair.reader(two[1:])]
        close(pair.reader(two), torch.cat(alone))


def untouched(pair: Pair) -> None:
    """the plain model stays as it was, whatever the extended one reads and becomes"""
    plain = deepcopy(pair.plain)
    state = {name: value.clone() for name, value in plain.state_dict().items()}
    held, training, x = plain.scheme, plain.training, pair.text(pair.L)
    before = plain(x)
    extended = pair.extension(plain)
    n = 2 if pair.read(3 * pair.L) is not None else 1
    extended(pair.text(n * pair.L))
    if isinstance(extended, GPT) and extended is not plain:
        for p in extended.parameters():
            p.zero_()
    if plain.scheme is not held or plain.training != training:
        raise Broken("the plain model has another scheme or mode")
    now = plain.state_dict()
    if not all(torch.equal(value, now[name]) for name, value in state.items()):
        raise Broken("the plain model has other weights")
    if not torch.equal(plain(x), before):
        raise Broken("the plain model has other logits")


CONTRACTS: dict[str, Callable[[Pair], None]] = {
    one.__name__: one for one in (inside, outside, prefix, repeats, batch, untouched)
}


def broken(name: str, extension: Extension, make: Make) -> dict[str, str]:
    """Returns the contracts by what they say, and how an extension breaks each, as
    `contracts.broken` does.

    Args:
        name: its choice, by which EXCUSED knows it
        make: a GPT around the scheme that it extends
    """
    pair = Pair(make(), extension)
    found = {}
    for contract, check in CONTRACTS.items():
        says = str(check.__doc__)
        found[says] = outcome(partial(check, pair), lambda key=contract: EXCUSED.get((name, key)))
    return found | {MEMORY: f"{NOT_CHECKED}{NEEDS_CLONE}"}
