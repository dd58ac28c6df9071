"""FlexAttention: one fused kernel for the biases of distance and the masks of any scheme.

    o_i = sum_j softmax_j(scale <q_i, k_j> + b[i - j]) v_j   over visible j

    b         distance_bias at the distances of this forward, a table (H, T) that the kernel reads
    visible   the kernel skips blocks of BLOCK x BLOCK hidden pairs and reads no mask for blocks of
              visible ones; for mixed blocks it keeps at.visible, 1 byte a pair
    sink      o_i e^lse_i / (e^lse_i + e^sink), lse_i the log-sum-exp of row i

The caller folds the temperature into q. Memory beyond q, k, v and the output is linear in the
length for masks of bands, blocks or columns, plus (T / BLOCK)^2 numbers for the list of blocks.

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
import torch.nn.functional as F
from torch import Tensor

from extrap.model.scheme import Scheme, Where, centred_bias

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

BLOCK = 128
NARROWEST = 16

_ON = os.environ.get("EXTRAP_FLEX") == "1" and find_spec("triton") is not None
DEVICES: tuple[str, ...] = ("cuda",) if _ON else ()
"""Devices for which attention.py chooses this kernel; torch compiles it for a GPU by Triton."""


def serves(scheme: Scheme, at: Where) -> bool:
    """True if this kernel can compute this layer of a scheme without logits, weights or mixing of
    its own.
    """
    device = at.q.device.type
    if device not in DEVICES or scheme.uses("bias", layer=at.layer):
        return False
    masks, biased = own_mask(scheme, at), scheme.uses("distance_bias", layer=at.layer)
    if (masks and torch.compiler.is_compiling()) or (biased and at.spacing is None):
        return False
    if device != "cpu" and (scheme.shape.head_dim < NARROWEST or _double(at)):
        return False
    return masks or biased


def _double(at: Where) -> bool:
    return at.x is not None and at.x.dtype == torch.float64  # pyright: ignore[reportUnnecessaryComparison]


def own_mask(scheme: Scheme, at: Where) -> bool:
    """True if visibility is not that of the causal mask."""
    return scheme.uses("sees", layer=at.layer) or not at.causal


def flex(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Attention to rotated keys: heated queries (B, H, T, E), keys and values (B, G, T, E or D) ->
    (B, H, T, D).
    """
    from torch.nn.attention.flex_attention import AuxRequest

    sink = scheme.sink(at)
    o, more = _kernel(q)(
        q.to(v.dtype),
        k.to(v.dtype),
        v,
        score_mod=_score_mod(scheme, q, at),
        block_mask=block_mask(scheme, at),
        scale=at.scale,
        enable_gqa=k.shape[1] != q.shape[1],
        return_aux=AuxRequest(lse=sink is not None),
    )
    if sink is None:
        return o
    assert more.lse is not None
    somewhere = (more.lse - sink.to(more.lse.dtype)[:, None]).sigmoid()  # (B, H, T)
    return o * somewhere[..., None].to(o.dtype)


def _kernel(q: Tensor) -> Callable[..., Any]:
    """Returns flex_attention, compiled unless the caller is compiled or on a CPU."""
    from torch.nn.attention.flex_attention import flex_attention

    if q.device.type == "cpu" or torch.compiler.is_compiling():
        return flex_attention
    return _compiled()


@cache
def _compiled() -> Callable[..., Any]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention)


def _score_mod(scheme: Scheme, q: Tensor, at: Where) -> Callable[..., Tensor] | None:
    """Returns (score, b, h, i, j) -> score + b[h, i - j]; None if no bias acts in this layer."""
    if not scheme.uses("distance_bias", layer=at.layer):
        return None
    assert at.spacing is not None
    d = torch.arange(at.length, device=q.device, dtype=torch.float64) * at.spacing
    b = centred_bias(scheme, d, at.layer)
    if b is None:
        return None
    table = b.to(torch.promote_types(q.dtype, torch.float32)).expand(q.shape[1], -1).contiguous()

    def score_mod(score: Tensor, _: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + table[h, (i - j).clamp(min=0)]

    return score_mod


def block_mask(scheme: Scheme, at: Where) -> "BlockMask":
    """Returns the blocks of pairs that the kernel reads, with the mask of mixed blocks; once a
    forward if all layers see the same.
    """
    masks = own_mask(scheme, at)
    return at.once(
        scheme, lambda: _block_mask(at, masks), "block mask", at.layer if masks else None
    )


def _block_mask(at: Where, masks: bool) -> "BlockMask":
    from torch.nn.attention.flex_attention import BlockMask

    n = -(-at.length // BLOCK)
    some: list[Tensor] = []
    whole: list[Tensor] = []
    kept: list[Tensor] = []
    for start in range(0, at.length, BLOCK):
        seen = at.block(start, min(start + BLOCK, at.length)).visible
        beyond = (0, n * BLOCK - seen.shape[1], 0, BLOCK - seen.shape[0])
        pairs = F.pad(seen, beyond).unflatten(1, (n, BLOCK)).transpose(0, 1)  # (n, BLOCK, BLOCK)
        some.append(pairs.any((1, 2)))
        whole.append(pairs.all((1, 2)))
        if masks:
            kept.append(pairs[some[-1] & ~whole[-1]])
    full = torch.stack(whole)
    partial = torch.stack(some) & ~full

    def causal(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return i >= j

    return BlockMask.from_kv_blocks(
        *_listed(partial),
        *_listed(full),
        BLOCK_SIZE=BLOCK,
        mask_mod=_lookup(partial, full, torch.cat(kept)) if masks else causal,
        seq_lengths=(at.length, at.length),
    )


def _lookup(partial: Tensor, full: Tensor, kept: Tensor) -> Callable[..., Tensor]:
    """Returns the mask of a pair, looked up in blocks (P, BLOCK, BLOCK) in the order of `partial`;
    two more blocks stand for all full and all empty ones.
    """
    P = len(kept)
    kept = torch.cat([kept, kept.new_ones(1, BLOCK, BLOCK), kept.new_zeros(1, BLOCK, BLOCK)])
    place = (partial.flatten().cumsum(0) - 1).view_as(partial)
    place = torch.where(partial, place, torch.where(full, P, P + 1))

    def mask_mod(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return kept[place[i // BLOCK, j // BLOCK], i % BLOCK, j % BLOCK]

    return mask_mod


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Returns, for each row of (n, n) bool, how many blocks it has (1, 1, n), and all columns,
    those of its blocks first (1, 1, n, n).
    """
    columns = blocks.int().argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(-1).int()[None, None], columns.int()[None, None]
