"""The logits of a model of ours compared with those of the model of transformers that it reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.pretrained.plain import device_of, table_rows
from extrap.pretrained.seam import forgetting
from extrap.utils.untrusted import memory

PROBE, NEAR, PAST = 40, 128, 9
"""Tokens of the reading that compares logits: PROBE, or PAST more than L up to an L of NEAR."""

FLOAT = 4
"""Bytes of a number."""
HALF = torch.bfloat16, torch.float16
ROUNDINGS = 4
"""Kernels of transformers, eager and sdpa, are at most 3.5 roundings apart in three layers."""


@torch.no_grad()
def difference(made: GPT, net: Any, length: int, whole: bool = False) -> float:
    """Returns the difference from the model's own logits, 0 for a model without storage: the
    largest, 0 if it is below 1e-4 of their spread, with the weights of half precision as float32
    for as long as both read. A model that has no room for these weights, or that is quantised, is
    read as it is: the root of the mean square, 0 if it is below ROUNDINGS roundings of the spread.

    Args:
        length: L in tokens
        whole: reads past L however long it is
    """
    weight = made.embedding.weight
    if device_of(net).type == "meta":
        return 0.0
    training = net.training
    net.eval()
    made.eval()
    try:
        if weight.dtype not in HALF:
            return _largest(*_both(made, net, length, whole))
        return _rounded(made, net, length, whole)
    finally:
        made.train(training)
        net.train(training)


def _rounded(made: GPT, net: Any, length: int, whole: bool) -> float:
    """Returns the difference for weights in half precision."""
    every = chain(net.parameters(), net.buffers(), made.parameters(), made.buffers())
    tensors = list({id(t): t for t in every}.values())
    plain = all(type(t) in (Tensor, nn.Parameter) and not t.is_meta for t in tensors)
    quantised = any(not t.is_floating_point() for t in net.parameters())
    numbers = sum(t.numel() for t in tensors if t.dtype in HALF)
    if plain and not quantised and FLOAT * numbers < memory() // 2:
        try:
            with _in_float32(tensors):
                return _largest(*_both(made, net, length, whole))
        except Exception:
            # of whatever class: no room on a GPU, a precision that the code names. Nothing is
            # hidden: half precision decides below, where a fault of the model raises again
            pass
    own, apart = _both(made, net, length, whole)
    off = float(apart.square().mean().sqrt())
    most = ROUNDINGS * torch.finfo(made.embedding.weight.dtype).eps * float(own.std())
    return 0.0 if off <= most else off


@contextmanager
def _in_float32(tensors: list[Tensor]) -> Iterator[None]:
    """Gives tensors of half precision numbers of float32, within."""
    kept = [(t, t.data) for t in tensors if t.dtype in HALF]
    try:
        for t, numbers in kept:
            t.data = numbers.float()
        yield
    finally:
        for t, numbers in kept:
            t.data = numbers


def _largest(own: Tensor, apart: Tensor) -> float:
    off = float(apart.abs().max())
    most = 1e-4 * max(1.0, float(own.std()))
    return 0.0 if off <= most else off


def _both(made: GPT, net: Any, length: int, whole: bool) -> tuple[Tensor, Tensor]:
    """Returns the model's own logits, and what the others are away from them, in float32."""
    rows = len(made.embedding.weight)
    device = device_of(net)
    g = torch.Generator().manual_seed(0)
    near = (whole or length <= NEAR) and device.type == "cpu"  # a GPU asserts past a table
    inside = length if whole else min(PROBE, length)
    n = length + PAST if near and table_rows(net) is None else inside
    tokens = torch.randint(rows, (2, n), generator=g).to(device)
    try:
        own = _logits(net, tokens)
    except Exception:  # of whatever class: a table or a limit that ends at L
        tokens = tokens[:, :inside]
        own = _logits(net, tokens)
    return own, made(tokens).float() - own


def _logits(net: Any, tokens: Tensor) -> Tensor:
    with forgetting(net):
        return net(input_ids=tokens, use_cache=False).logits.float()
