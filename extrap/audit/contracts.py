"""The contracts of a scheme, in float64 unless said otherwise: a scheme that breaks one gives
numbers that mean something else than they say. tests/contracts holds every scheme of extrap to
them, `extrap judge` yours.

Each takes `make`, which returns a small GPT around a new scheme of any shape, and raises Broken.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import torch
from torch import Tensor

from extrap.model import attention as kernels
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.parts import kind
from extrap.model.scheme import OutOfRange, Scheme, Shape, Where
from extrap.runs.build import build
from extrap.utils.errors import UserError, first_line

SMALL = {"dim": 32, "heads": 4, "layers": 2, "length": 64, "vocab": 50}
T, SPLIT = 40, 17
"""Tokens of a text, and of its beginning."""


class Broken(AssertionError):
    """How a scheme breaks a contract."""


class Make(Protocol):
    """Makes a GPT in evaluation mode; shape: fields of Shape that differ from SMALL."""

    def __call__(self, seed: int = ..., dtype: torch.dtype = ..., **shape: Any) -> GPT: ...


def around(scheme: Scheme, dtype: torch.dtype = torch.float64) -> GPT:
    """Returns a GPT around a scheme, every parameter of which moves off its initial value."""
    shape = scheme.shape
    for p in scheme.parameters():
        values = p.data
        spread = 0.3 + float(values.std()) if p.numel() > 1 else 0.1
        torch.nn.init.normal_(values, mean=float(values.mean()), std=spread)
    grouped = {"kv_heads": shape.kv_heads, "head_dim": shape.head_width}
    decoder = Decoder(shape.dim, shape.layers, shape.heads, **grouped)
    return GPT(scheme, shape.vocab, decoder).to(dtype).eval()


def maker(node: Mapping[str, Any], plugins: Iterable[str] = ()) -> Make:
    """Returns the `make` of the configuration of a scheme."""

    def make(seed: int = 0, dtype: torch.dtype = torch.float64, **shape: Any) -> GPT:
        torch.manual_seed(seed)
        made = Shape(**(SMALL | shape))
        return around(build(node, "scheme", plugins, Scheme, shape=made), dtype)

    return make


def causal(make: Make) -> None:
    """no logit depends on a later token"""
    model, x = make(), tokens()
    y = x.clone()
    y[:, 25] = (y[:, 25] + 1) % 50
    a, b = model(x), model(y)
    before = torch.equal(a[:, :25], b[:, :25])
    behind = torch.equal(a[:, 25:], b[:, 25:])
    _need(before, "a later token changes earlier logits")
    _need(not behind, "a token changes no logit behind it")


def prefix(make: Make) -> None:
    """the beginning of a text is read as if it stood alone"""
    model, x = make(), tokens()
    close(model(x[:, :SPLIT]), model(x)[:, :SPLIT])


def kernel(make: Make) -> None:
    """every kernel computes attention as defined, in blocks of any height"""
    model = make()
    scheme = model.scheme
    (q, k, v, x) = qkvx(model)
    at = model.where(tokens()).at_layer(1, x)
    whole = scheme.attend(q, k, v, at)
    every = {kernels.kernel(scheme, at)}
    if not scheme.uses("attend", layer=1):
        every.add(kernels.explicit)
    if not scheme.uses("attend", "score", "normalise", "mix", layer=1):
        every.add(kernels.masked)
    before = kernels.ROWS
    try:
        for kernels.ROWS in (1, 2, 5, 256):
            for compute in every:
                close(compute(scheme, q, k, v, at), whole, 1e-12)
    finally:
        kernels.ROWS = before


def gradients(make: Make) -> None:
    """gradients of the kernel are those of the definition"""
    model = make()
    q, k, v, x = qkvx(model)
    found = []
    for attend in (kernels.attention, definition):
        leaves = [z.clone().requires_grad_() for z in (q, k, v, x)]
        at = model.where(tokens()).at_layer(1, leaves[3])
        model.scheme.zero_grad()
        with torch.enable_grad():
            attend(model.scheme, *leaves[:3], at).square().sum().backward()
        grads = [z.grad for z in leaves if z.grad is not None]
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
        model(tokens()).square().sum().backward()
    for name, p in model.named_parameters():
        grad = p.grad
        moved = grad is not None and grad.isfinite().all() and bool(grad.abs().sum() > 0)
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

    def run(shift: float) -> Tensor:
        x = tokens()
        model.where = lambda _: Where.whole(  # type: ignore[method-assign]
            model.scheme.positions(torch.arange(T, dtype=torch.float64)) + shift,
            model.scheme.scale,
            tokens=x,
            sees=model.scheme.sees if model.scheme.uses("sees") else None,
        )
        return model(x)

    if kind(model.scheme) == "absolute":
        same = torch.allclose(run(0), run(3), atol=1e-6)
        return _need(not same, "Kind: absolute, and yet a shift changes nothing")
    close(run(0), run(3), 1e-9)
    close(run(0), run(40), 1e-9)
    return None


def apart(make: Make) -> None:
    """two models share nothing, and weights are all that one holds"""
    a, b = make(seed=0), make(seed=1)
    b.load_state_dict(a.state_dict())
    close(a(tokens()), b(tokens()), 0)
    alone = a(tokens())
    other = make(dim=64, heads=2, layers=3, length=96)
    other(tokens(seed=3))
    close(a(tokens()), alone, 0)


def bfloat16(make: Make) -> None:
    """in bfloat16 it is off by rounding alone"""
    model, x = make(), tokens()
    exact = model(x)
    low = model.to(torch.bfloat16)(x)
    finite = low.dtype == torch.bfloat16 and low.isfinite().all()
    _need(finite, "no finite bfloat16 logits")
    wrong = (low.double() - exact).square().mean()
    error = float(wrong / exact.square().mean())
    _need(error < 0.02, f"off by {error:.2g} of the mean square")


CONTRACTS: dict[str, Callable[[Make], None]] = {
    one.__name__: one
    for one in (causal, prefix, kernel, gradients, reached, past, shifted, apart, bfloat16)
}


def broken(make: Make) -> dict[str, str]:
    """Returns the contracts by what they say, and how a scheme breaks each: empty if it holds."""
    found = {}
    for contract in CONTRACTS.values():
        with torch.no_grad():
            says = str(contract.__doc__)
            try:
                contract(make)
                found[says] = ""
            except (Broken, UserError, ValueError, RuntimeError) as error:
                found[says] = first_line(error)
    return found


def tokens(T: int = T, seed: int = 0, batch: int = 2) -> Tensor:
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(50, (batch, T), generator=draws)


def close(a: Tensor, b: Tensor, tolerance: float = 1e-10) -> None:
    try:
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)
    except AssertionError:
        most = float((a - b).abs().max()) if a.shape == b.shape else float("inf")
        raise Broken(f"differs by {most:.2g}") from None


def qkvx(model: GPT, T: int = T) -> tuple[Tensor, ...]:
    """Returns queries, keys and values (2, H, T, D), and the input (2, T, C) of a layer."""
    shape = model.scheme.shape
    drawn = {"generator": torch.Generator().manual_seed(1), "dtype": torch.float64}
    q, k, v = torch.randn(3, 2, shape.heads, T, shape.head_dim, **drawn)
    x = torch.randn(2, T, shape.dim, **drawn)
    return q, k, v, x


def definition(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Returns attention without kernels: the whole matrix, then the gate."""
    return scheme.gate(scheme.attend(q, k, v, at), at)


def _need(holds: Any, otherwise: str) -> None:
    if not bool(holds):
        raise Broken(otherwise)
