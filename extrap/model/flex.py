"""FlexAttention: one fused kernel for the biases of distance and the masks of any scheme.

    o_i = sum_j softmax_j(scale <q_i, k_j> + b[i - j]) v_j   over visible j

    b         distance_bias at the distances of this forward, a table (H, T) that the kernel reads
    visible   the kernel skips blocks of BLOCK x BLOCK hidden pairs and reads no mask for blocks of
              visible ones; at.visible is in memory once a forward, 1 byte a pair, where a scheme
              masks more than later tokens
    sink      o_i e^lse_i / (e^lse_i + e^sink), lse_i the log-sum-exp of row i

attention.py chooses it on the devices of DEVICES alone. That list is empty unless EXTRAP_FLEX=1 is
in the environment, as long as no GPU has run it (benchmarks/README.md). Other kernels compute what
it does not serve: logits or weights of a scheme's own, biases of content or order, a bias at uneven
coordinates (no function of i - j), float64 and heads of fewer than 16 channels on a GPU (torch has
no kernel for them), and masks inside torch.compile, where values must not decide the number of
blocks.

Source: torch.nn.attention.flex_attention, arXiv 2412.05496. torch compiles it for a GPU; on a CPU
tests run it uncompiled, with all logits in memory and without gradients.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Where, centred_bias

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

BLOCK = 128
NARROWEST = 16
KERNEL = {"num_stages": 1}
"""Options of the kernel: loads that run ahead also copy the bias of their pairs, 64 KiB a stage,
for which shared memory has no room beside keys and values.
"""

_ON = os.environ.get("EXTRAP_FLEX") == "1" and find_spec("triton") is not None
DEVICES: tuple[str, ...] = ("cuda",) if _ON else ()
"""Devices for which attention.py chooses this kernel; torch compiles it for a GPU by Triton."""


def serves(scheme: Scheme, at: Where) -> bool:
    """True if this kernel computes this layer: no logits, weights or mixing of its own."""
    device = at.q.device.type
    if device not in DEVICES or scheme.uses("bias", layer=at.layer):
        return False
    masks = own_mask(scheme, at)
    biased = scheme.uses("distance_bias", layer=at.layer)
    if (masks and torch.compiler.is_compiling()) or (biased and at.spacing is None):
        return False
    double = at.x is not None and at.x.dtype == torch.float64  # pyright: ignore[reportUnnecessaryComparison]
    if device != "cpu" and (scheme.shape.head_dim < NARROWEST or double):
        return False
    return masks or biased


def own_mask(scheme: Scheme, at: Where) -> bool:
    """True if the scheme hides more than the causal mask does."""
    return scheme.uses("sees", layer=at.layer) or not at.causal


def flex(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Attention of heated queries (B, H, T, E) to rotated keys and values (B, G, T, E or D)."""
    from torch.nn.attention.flex_attention import AuxRequest

    sink = scheme.sink(at)
    o, more = _of_torch("flex_attention", q.device)(
        q.to(v.dtype),
        k.to(v.dtype),
        v,
        score_mod=_score_mod(scheme, q, at),
        block_mask=block_mask(scheme, at),
        scale=at.scale,
        enable_gqa=k.shape[1] != q.shape[1],
        kernel_options=dict(KERNEL),
        return_aux=AuxRequest(lse=sink is not None),
    )
    if sink is None:
        return o
    assert more.lse is not None
    somewhere = (more.lse - sink.to(more.lse.dtype)[:, None]).sigmoid()  # (B, H, T)
    return o * somewhere[..., None].to(o.dtype)


_compiled = cache(torch.compile)


def _of_torch(name: str, device: torch.device) -> Callable[..., Any]:
    """Returns a function of torch, compiled unless its caller is or on a CPU. A block mask that is
    not compiled takes 9 bytes a pair of tokens, a compiled one none.
    """
    from torch.nn.attention import flex_attention

    plain = getattr(flex_attention, name)
    inside = device.type == "cpu" or torch.compiler.is_compiling()
    return plain if inside else _compiled(plain)


def _score_mod(scheme: Scheme, q: Tensor, at: Where) -> Callable[..., Tensor] | None:
    """Returns (score, b, h, i, j) -> score + b[h, i - j]; None if no bias acts in this layer."""
    if not scheme.uses("distance_bias", layer=at.layer):
        return None
    assert at.spacing is not None
    d = torch.arange(at.length, device=q.device, dtype=torch.float64) * at.spacing
    b = centred_bias(scheme, d, at.layer)
    if b is None:
        return None
    b = b.to(torch.promote_types(q.dtype, torch.float32))
    table = b.expand(q.shape[1], -1).contiguous()

    def score_mod(score: Tensor, _: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + table[h, (i - j).clamp(min=0)]

    return score_mod


def block_mask(scheme: Scheme, at: Where) -> "BlockMask":
    """Returns the blocks of pairs that the kernel reads; once a forward if all layers agree."""
    masks = own_mask(scheme, at)
    device = at.q.device

    def make() -> "BlockMask":
        T = at.length
        seen = at.visible if masks else None

        def visible(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return i >= j if seen is None else seen[i, j]

        create = _of_torch("create_block_mask", device)
        return create(visible, None, None, T, T, str(device), BLOCK)

    return at.once(scheme, make, "block mask", at.layer if masks else None)
