"""Linear layers, x W^T + b, computed on a CPU by torch's own library or by oneDNN.

    linear(x, weight, bias)     torch.nn.functional.linear, or inside `using("onednn")` oneDNN,
                                forward and both products of the backward
    Linear                      nn.Linear that calls it: same parameters, same state dict
    using(word)                 context: which of the two computes; outside of one it is torch
    measure()                   processor time of oneDNN over that of torch on this machine

torch calls MKL, which takes a path of half the speed on AMD: 85 to 98 GFLOP/s where oneDNN does 160
to 215 (EPYC of family 26, one thread). The values agree to float32 rounding (1.1e-6 of the largest
entry against float64; MKL 5e-7), the bits do not. What decides for a run is runs/linear.py.

oneDNN computes plain float32 tensors of a CPU alone, never in bfloat16 or TF32. Everything else is
F.linear: other devices and dtypes, autocast, torch.compile, torch.func, subclasses of tensors
(DTensor of FSDP), and products too small to gain. oneDNN's products have no second derivative:
asking for one raises.
"""

# pyright: reportIncompatibleMethodOverride=false

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import inf
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

Word = Literal["torch", "onednn"]

SMALLEST = 2**20
"""Multiplications of a product that oneDNN may have: a call of it costs 11 us, MKL takes 20 us for
as many.
"""
NARROWEST = 16

_FAST: ContextVar[bool] = ContextVar("oneDNN computes linear layers", default=False)


@contextmanager
def using(word: Word) -> Generator[None, None, None]:
    """Inside, linear layers are computed by this library wherever it may."""
    before = _FAST.set(word == "onednn")
    try:
        yield
    finally:
        _FAST.reset(before)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (..., K), weight (N, K), bias (N,) -> (..., N)."""
    tensors = (x, weight) if bias is None else (x, weight, bias)
    if torch.compiler.is_compiling() or not _FAST.get() or not _suits(*tensors):
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return _Linear.apply(x, weight, bias)
    return _product(x, weight, bias)


class Linear(nn.Linear):
    """nn.Linear through `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def _suits(x: Tensor, weight: Tensor, *bias: Tensor) -> bool:
    if min(weight.shape) < NARROWEST or x.numel() * len(weight) < SMALLEST:
        return False
    plain = all(
        type(t) in (Tensor, nn.Parameter)
        and t.dtype == torch.float32
        and t.device.type == "cpu"
        and t.layout == torch.strided
        for t in (x, weight, *bias)
    )
    return plain and not torch.is_autocast_enabled("cpu") and not _transformed() and available()


def available() -> bool:
    """Whether oneDNN is built in, switched on, and computes float32 as float32."""
    return (
        _built()
        and torch.backends.mkldnn.enabled
        and torch.get_float32_matmul_precision() == "highest"
        and torch.backends.mkldnn.matmul.fp32_precision in ("none", "ieee")  # pyright: ignore[reportAttributeAccessIssue]
    )


@cache
def _built() -> bool:
    mode = "FPMATH_MODE"
    strict = os.environ.get(f"ONEDNN_DEFAULT_{mode}", os.environ.get(f"DNNL_DEFAULT_{mode}"))
    return (
        torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and (strict is None or strict.lower() == "strict")
    )


def _transformed() -> bool:
    """Whether this is a call within torch.func, or one of many that are batched into one."""
    return torch._C._functorch.peek_interpreter_stack() is not None  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]


def _product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b without gradients: the operator that torch.compile emits for them on a CPU."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        product = F.linear if _transformed() else _product  # a batch of gradients at once
        g = g.contiguous()
        rows = g.reshape(-1, g.shape[-1])  # (rows, N)
        flat = x.reshape(-1, x.shape[-1])  # (rows, K)
        dx = dw = None
        if of_x:
            dx = product(g, weight.t().contiguous())
        if of_weight and len(weight) < weight.shape[1]:
            dw = product(rows.t(), flat.t())
        elif of_weight:  # the same, transposed: the longer side first is faster
            dw = product(flat.t(), rows.t()).t()
        return dx, dw, rows.sum(0) if of_bias else None


@cache
def measure(rows: int = 4096, width: int = 64, rounds: int = 9) -> float:
    """Processor time of one forward and backward by oneDNN over that by torch, on one thread: the
    least of interleaved rounds.

    Some .1 s. The clock is that of the thread, so that other work on the machine does not decide:
    .50 to .59 in 30 of 30 processes on two busy AMD cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            x, w = (
                torch.ones(n, width, dtype=torch.float32, device="cpu", requires_grad=True)
                for n in (rows, 4 * width)
            )
            best = {F.linear: inf, _Linear.apply: inf}
            for n in range(rounds + 2):  # the first two warm up
                for f in best:
                    start = time.thread_time()
                    y = f(x, w, None)
                    torch.autograd.grad(y, (x, w), y.detach())
                    if n > 1:
                        best[f] = min(best[f], time.thread_time() - start)
        return best[_Linear.apply] / best[F.linear]
    finally:
        torch.set_num_threads(threads)
