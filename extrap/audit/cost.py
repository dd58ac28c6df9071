"""Cost over NoPE: parameters, arithmetic and memory traffic per token, and the kernel in use.

All operations of a forward of L = 256 tokens in the default model (2 layers, 4 heads, width 64) are
counted, so that no clock decides. multiply-adds: matrix products as rows x inner x columns, other
arithmetic one per written element (a complex one four), of embedding, attention and its gate by
their definition (all pairs, the upper triangle too), over all multiply-adds of the NoPE model.
bytes: written by all operations that are no views, by the whole model with the kernel in use.
"""

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from extrap.audit.column import Column
from extrap.audit.subject import DEFAULT_SHAPE, Subject, gpt, layers
from extrap.model import attention
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme

SHAPE = replace(DEFAULT_SHAPE, length=256)
MOVES = (
    "copy", "clone", "empty", "zeros", "ones", "full", "arange", "fill", "cat", "stack", "where",
    "gather", "index", "eye", "tril",
)  # fmt: skip
"""Operations that compute nothing, by how their names begin."""


class Count(TorchDispatchMode):
    """Multiply-adds and bytes written of everything that runs inside."""

    def __init__(self) -> None:
        super().__init__()
        self.multiply_adds = 0
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        results = out if isinstance(out, tuple | list) else (out,)
        written = [t for t in results if isinstance(t, Tensor) and not func.is_view]
        self.bytes += sum(t.numel() * t.element_size() for t in written)
        self.multiply_adds += products(func, args, out) or elements(func, written)
        return out


def products(func, args, out) -> int:
    """Multiply-adds of a matrix product, or of the two of fused attention; 0 for the rest."""
    if func.overloadpacket in flop_registry:
        flops = flop_registry[func.overloadpacket]
        return flops(*args, out_val=out) // 2
    if func.overloadpacket.__name__.startswith("_scaled_dot_product"):
        q, k, v = args[:3]
        D = q.shape[-1]
        queries = q.numel() // D
        keys = k.shape[-2]
        return queries * keys * (D + v.shape[-1])
    return 0


def elements(func, written: list[Tensor]) -> int:
    if func.overloadpacket.__name__.strip("_").startswith(MOVES):
        return 0
    total = 0
    for t in written:
        if t.is_complex():
            total += 4 * t.numel()
        elif t.is_floating_point():
            total += t.numel()
    return total


def parameters(subject: Subject) -> int:
    scheme = subject.scheme(DEFAULT_SHAPE)
    return sum(p.numel() for p in scheme.parameters())


def multiply_adds(subject: Subject) -> float:
    arithmetic, base, _ = nope()
    model = gpt(subject.scheme(SHAPE))
    return (own(model) - arithmetic) / base


def written(subject: Subject) -> float:
    _, _, base = nope()
    model = gpt(subject.scheme(SHAPE))
    return forward(model).bytes / base - 1


def kernel(subject: Subject) -> str:
    model = gpt(subject.scheme(SHAPE))
    at = model.where(tokens())
    return attention.kernel(model.scheme, at).__name__


@cache
def nope() -> tuple[int, int, int]:
    """(multiply-adds of its attention, of all of it, bytes written)."""
    model = gpt(Scheme(SHAPE))
    count = forward(model)
    return own(model), count.multiply_adds, count.bytes


def tokens() -> Tensor:
    return torch.zeros(1, SHAPE.length, dtype=torch.long)


@torch.no_grad()
def forward(model: GPT) -> Count:
    with Count() as count:
        model(tokens())
    return count


@torch.no_grad()
def own(model: GPT) -> int:
    """Multiply-adds of embedding and attention by definition, with projections and gates."""
    x = model.embedding(tokens())
    scheme = model.scheme
    with Count() as count:
        at = model.where(tokens())
        for q, k, v, here in layers(model, x, at):
            out = scheme.attend(q, k, v, here)
            scheme.gate(out, here)
    return count.multiply_adds


def percent(value: float) -> str:
    return f"{100 * value:+.1f} %"


COLUMNS = (
    Column(
        "parameters", "params", "parameters that the scheme adds to the default model", parameters,
        "{:,}".format
    ),
    Column(
        "multiply_adds", "madds", "multiply-adds per token that NoPE does not have, "
        "counted by operation", multiply_adds, percent
    ),
    Column(
        "bytes", "bytes", "bytes written per token that NoPE does not write, counted by "
        "operation", written, percent
    ),
    Column("kernel", "kernel", "how attention is computed (extrap/model/attention.py)", kernel),
)  # fmt: skip
