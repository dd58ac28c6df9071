"""The contracts of a scheme, in float64 unless said otherwise: a scheme that breaks one gives
numbers that mean something else than they say. tests/contracts holds every scheme of extrap to
them, `extrap judge` yours.

Each takes `make`, which returns a small GPT around a new scheme of any shape, and raises Broken; or
NotChecked, if the options of the scheme allow no other shape than its own.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from extrap.model import attention as kernels
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.parts import kind, parts
from extrap.model.scheme import OutOfRange, Scheme, Shape, Where
from extrap.runs.build import build
from extrap.schemes.fire import FIRE
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.random_floats import RandomFloats
from extrap.schemes.randomised import RandomisedPositions
from extrap.utils.errors import UserError, first_line

SMALL: dict[str, Any] = {"dim": 32, "heads": 4, "layers": 2, "length": 64, "vocab": 50}
SIZES = ("dim", "heads", "layers", "norm", "head_width")
"""Fields of a shape that the options of a scheme may depend on."""
T, SPLIT = 40, 17
"""Tokens of a text, and of its beginning."""


class Broken(AssertionError):
    """How a scheme breaks a contract."""


class NotChecked(Exception):
    """Why a scheme cannot be made in the shape that a contract needs."""


NOT_CHECKED = "not checked: "
"""How the reason begins, among those of broken contracts."""
ON_PURPOSE = "broken on purpose: "
"""How the reason of EXCUSED begins there."""
EXCUSED: dict[tuple[type[Scheme], str], str] = {
    (MultiAxisRoPE, "shifted"): "relative in line and column: no shift by whole lines is felt",
    (RandomisedPositions, "prefix"): "evenly spaced positions move as the text grows",
    (RandomFloats, "prefix"): "positions are drawn anew for each length",
    (FIRE, "shifted"): "from place L_f on the distance is divided by the place of the query",
}
"""By part of a scheme and contract: why the part breaks it on purpose."""


class Make(Protocol):
    """Makes a GPT in evaluation mode; shape: fields of Shape that differ from SMALL."""

    def __call__(self, seed: int = ..., dtype: torch.dtype = ..., **shape: Any) -> GPT: ...


def around(scheme: Scheme, dtype: torch.dtype = torch.float64) -> GPT:
    """Returns a GPT around a scheme, every parameter of which moves off its initial value."""
    shape = scheme.shape
    for p in scheme.parameters():
        values = p.data
        mean = float(values.mean())
        spread = 0.3 + float(values.std()) if p.numel() > 1 else 0.1
        torch.nn.init.normal_(values, mean=mean, std=spread)
    given: dict[str, Any] = {"kv_heads": shape.kv_heads, "head_dim": shape.head_width}
    given["norm"] = shape.norm
    decoder = Decoder(shape.dim, shape.layers, shape.heads, **given)
    model = GPT(scheme, shape.vocab, decoder)
    return model.to(dtype).eval()


def maker(node: Mapping[str, Any], plugins: Iterable[str] = (), like: Shape | None = None) -> Make:
    """Returns the `make` of the configuration of a scheme. like: the shape whose width, heads and
    layers it has, as its options may suit no other.
    """
    own = {} if like is None else {name: getattr(like, name) for name in SIZES}

    def make(seed: int = 0, dtype: torch.dtype = torch.float64, **shape: Any) -> GPT:
        torch.manual_seed(seed)
        made = Shape(**(SMALL | own | shape))
        try:
            scheme = build(node, "scheme", plugins, Scheme, shape=made)
        except Exception as error:
            if shape:
                raise NotChecked(first_line(error)) from None
            raise
        return around(scheme, dtype)

    return make


def causal(make: Make) -> None:
    """no logit depends on a later token"""
    model = make()
    x = tokens()
    y = x.clone()
    y[:, 25] = (y[:, 25] + 1) % 50
    a = model(x)
    b = model(y)
    before = torch.equal(a[:, :25], b[:, :25])
    behind = torch.equal(a[:, 25:], b[:, 25:])
    _need(before, "a later token changes earlier logits")
    _need(not behind, "a token changes no logit behind it")


def prefix(make: Make) -> None:
    """the beginning of a text is read as if it stood alone"""
    model = make()
    x = tokens()
    alone = model(x[:, :SPLIT])
    whole = model(x)
    close(alone, whole[:, :SPLIT])


def beside(make: Make) -> None:
    """a text is read the same beside another"""
    model = make()
    x = tokens()
    pair = model(x)
    for row in range(len(x)):
        close(pair[row : row + 1], model(x[row : row + 1]))


def kernel(make: Make) -> None:
    """every kernel computes attention as defined, in blocks of any height"""
    model = make()
    scheme = model.scheme
    q, k, v, x = qkvx(model)
    layer = second(model)
    at = model.where(tokens()).at_layer(layer, x)
    whole = scheme.attend(q, k, v, at)
    every = {kernels.kernel(scheme, at)}
    if not scheme.uses("attend", layer=layer):
        every.add(kernels.explicit)
    if not scheme.uses("attend", "score", "normalise", "mix", layer=layer):
        every.add(kernels.masked)
    before = kernels.ROWS
    try:
        for kernels.ROWS in (1, 2, 5, 256):
            for compute in every:
                found = compute(scheme, q, k, v, at)
                close(found, whole, 1e-12)
    finally:
        kernels.ROWS = before


def gradients(make: Make) -> None:
    """gradients of the kernel are those of the definition"""
    model = make()
    drawn = qkvx(model)
    found = []
    for attend in (kernels.attention, definition):
        leaves = [each.clone().requires_grad_() for each in drawn]
        q, k, v, x = leaves
        at = model.where(tokens()).at_layer(second(model), x)
        model.scheme.zero_grad()
        with torch.enable_grad():
            out = attend(model.scheme, q, k, v, at)
            out.square().sum().backward()
        grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
        for p in model.scheme.parameters():
            if p.grad is not None:
                grads.append(p.grad.clone())
        found.append(grads)
    ours, defined = found
    _need(len(ours) == len(defined), "the kernel reaches other parameters")
    for a, b in zip(ours, defined, strict=True):
        close(a, b, 1e-9)


def reached(make: Make) -> None:
    """training reaches every parameter"""
    model = make().train()
    with torch.enable_grad():
        logits = model(tokens())
        logits.square().sum().backward()
    for name, p in model.named_parameters():
        grad = p.grad
        moved = grad is not None and bool(grad.isfinite().all() and grad.abs().sum() > 0)
        _need(moved, f"{name} has no gradient, or no finite one")


def past(make: Make) -> None:
    """past the training length it is defined, or says that it is not"""
    model = make()
    x = tokens(128)
    if model.scheme.limit >= 128:
        return _need(model(x).isfinite().all(), "NaN or infinite logits at 2 L")
    try:
        model(x)
    except OutOfRange:
        return None
    raise Broken(f"reads 128 tokens though its limit is {model.scheme.limit:g}")


def shifted(make: Make) -> None:
    """its card says whether it feels a constant that is added to all positions"""
    model = make(length=128)

    scheme = model.scheme
    t = torch.arange(T, dtype=torch.float64)
    sees = scheme.sees if scheme.uses("sees") else None

    def run(shift: float) -> Tensor:
        x = tokens()
        model.where = lambda _: Where.whole(  # type: ignore[method-assign]
            scheme.positions(t) + shift,
            scheme.scale,
            tokens=x,
            sees=sees,
        )
        return model(x)

    if kind(scheme) == "absolute":
        same = torch.allclose(run(0), run(3), atol=1e-6)
        return _need(not same, "Kind: absolute, and yet a shift changes nothing")
    close(run(0), run(3), 1e-9)
    close(run(0), run(40), 1e-9)
    return None


def apart(make: Make) -> None:
    """two models share nothing, and weights are all that one holds"""
    x = tokens()
    a = make(seed=0)
    b = make(seed=1)
    b.load_state_dict(a.state_dict())
    alone = a(x)
    close(alone, b(x), 0)
    other = make(dim=64, heads=2, layers=3, length=96)
    other(tokens(seed=3))
    close(a(x), alone, 0)


def bfloat16(make: Make) -> None:
    """in bfloat16 it is off by rounding alone"""
    model = make()
    x = tokens()
    exact = model(x)
    low = model.to(torch.bfloat16)(x)
    is_low = low.dtype == torch.bfloat16
    _need(is_low and low.isfinite().all(), "no finite bfloat16 logits")
    wrong = (low.double() - exact).square().mean()
    error = float(wrong / exact.square().mean())
    _need(error < 0.02, f"off by {error:.2g} of the mean square")


CONTRACTS: dict[str, Callable[[Make], None]] = {
    one.__name__: one
    for one in (
        causal,
        prefix,
        beside,
        kernel,
        gradients,
        reached,
        past,
        shifted,
        apart,
        bfloat16,
    )
}


def broken(make: Make) -> dict[str, str]:
    """Returns the contracts by what they say, and how a scheme breaks each: empty if it holds,
    NOT_CHECKED and the reason if it has no such shape, ON_PURPOSE and the reason of EXCUSED.
    """
    found = {}
    for name, contract in CONTRACTS.items():
        says = str(contract.__doc__)
        found[says] = outcome(partial(contract, make), partial(_excuse, make, name))
    return found


def outcome(check: Callable[[], None], excuse: Callable[[], str | None]) -> str:
    """Returns how a check of a contract fails, as `broken` says it. excuse: returns why it may."""
    with torch.no_grad():
        try:
            check()
            return ""
        except NotChecked as error:
            return f"{NOT_CHECKED}{error}"
        except Broken as error:
            reason = excuse()
            return f"{ON_PURPOSE}{reason}" if reason else first_line(error)
        except (UserError, ValueError, RuntimeError) as error:
            return first_line(error)
        except Exception as error:  # of a class of yours
            return f"{type(error).__name__}: {first_line(error)}"


def _excuse(make: Make, contract: str) -> str | None:
    """Returns why a part of a scheme breaks a contract on purpose, None without a reason."""
    reasons = (EXCUSED.get((type(part), contract)) for part in parts(make().scheme))
    return next(filter(None, reasons), None)


def tokens(T: int = T, seed: int = 0, batch: int = 2) -> Tensor:
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(50, (batch, T), generator=draws)


def close(a: Tensor, b: Tensor, tolerance: float = 1e-10) -> None:
    try:
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)
    except AssertionError:
        most = float("inf")
        if a.shape == b.shape:
            most = float((a - b).abs().max())
        raise Broken(f"differs by {most:.2g}") from None


def second(model: GPT) -> int:
    """Returns the index of the second layer, 0 without one."""
    return min(1, model.scheme.shape.layers - 1)


def qkvx(model: GPT, T: int = T) -> tuple[Tensor, ...]:
    """Returns queries, keys and values (2, H, T, D), and the input (2, T, C) of a layer."""
    shape = model.scheme.shape
    draws = torch.Generator().manual_seed(1)
    drawn: dict[str, Any] = {"generator": draws, "dtype": torch.float64}
    q, k, v = torch.randn(3, 2, shape.heads, T, shape.head_dim, **drawn)
    x = torch.randn(2, T, shape.dim, **drawn)
    return q, k, v, x


def definition(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Returns attention without kernels: the whole matrix, then the gate."""
    out = scheme.attend(q, k, v, at)
    return scheme.gate(out, at)


def _need(holds: Any, otherwise: str) -> None:
    if not bool(holds):
        raise Broken(otherwise)
