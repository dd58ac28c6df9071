"""FlexAttention: one fused kernel for the masks of any scheme, which trains them on a GPU.

    o_i = sum_j softmax_j(scale <q_i, k_j>) v_j   over visible j

    visible   the kernel skips blocks of BLOCK x BLOCK hidden pairs and reads no mask for blocks of
              visible ones; at.visible is in memory once a forward for each mask, 1 byte a pair
    sink      o_i e^lse_i / (e^lse_i + e^sink), lse_i the log-sum-exp of row i

On an H200 a step of 124 M parameters under windows takes .78 of the time of the kernel `masked`.
Other kernels compute biases of distance (ALiBi took 1.15 of the time of `strided` here,
benchmarks/README.md) and of content; logits or weights of a scheme's own; readings without
gradients, which are of many lengths, each to be compiled; float64 and heads of fewer than 16
channels, for which torch has no kernel; and masks inside torch.compile, where values must not
decide the number of blocks.

Source: torch.nn.attention.flex_attention, arXiv 2412.05496. torch compiles it for a GPU; on a CPU
tests run it uncompiled, with all logits in memory.
"""

import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Where
from extrap.model.stack import Stack
from extrap.model.wrapper import Wrapper

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

BLOCK = 128
NARROWEST = 16
KERNEL = {"num_stages": 1}
"""Options of the kernel: no loads that run ahead, for which shared memory may have no room."""

DEVICES: tuple[str, ...] = ("cuda",) if find_spec("triton") is not None else ()
"""Devices for which attention.py chooses this kernel; torch compiles it for a GPU by Triton."""

PASSED_ON = (Scheme.sees, Wrapper.sees, Stack.sees)
"""Hooks that mask nothing themselves."""

LOST = set[str]()
"""Devices for which torch could not compile it in this process."""


def serves(scheme: Scheme, at: Where) -> bool:
    """True if this kernel computes this layer: a mask in a training, and no biases."""
    device = at.q.device.type
    if device not in DEVICES or device in LOST:
        return False
    if not torch.is_grad_enabled() or torch.compiler.is_compiling():
        return False
    if scheme.uses("bias", "distance_bias", layer=at.layer):
        return False
    double = at.x is not None and at.x.dtype == torch.float64  # pyright: ignore[reportUnnecessaryComparison]
    if device != "cpu" and (scheme.shape.head_dim < NARROWEST or double):
        return False
    return scheme.uses("sees", layer=at.layer) or not at.causal


def flex(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Attention of heated queries (B, H, T, E) to rotated keys and values (B, G, T, E or D)."""
    from torch.nn.attention.flex_attention import AuxRequest

    sink = scheme.sink(at)
    o, more = _of_torch("flex_attention", q.device)(
        q.to(v.dtype),
        k.to(v.dtype),
        v,
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


def gives_up(error: RuntimeError, device: torch.device) -> bool:
    """True if torch could not compile the kernel: a machine without a C compiler, a GPU that Triton
    does not know. Warns in a line; from then on other kernels compute what this one served.
    """
    if all(kind.__name__ != "TorchDynamoException" for kind in type(error).__mro__):
        return False
    LOST.add(device.type)
    why = str(error).strip().partition("\n")[0]
    line = f"torch could not compile FlexAttention ({why}); masks take another kernel"
    warnings.warn(line, UserWarning, stacklevel=2)
    return True


_compiled = cache(torch.compile)


def _of_torch(name: str, device: torch.device) -> Callable[..., Any]:
    """Returns a function of torch, compiled unless on a CPU. A block mask that is not compiled
    takes 9 bytes a pair of tokens, a compiled one none.
    """
    from torch.nn.attention import flex_attention

    plain = getattr(flex_attention, name)
    return plain if device.type == "cpu" else _compiled(plain)


def block_mask(scheme: Scheme, at: Where) -> "BlockMask":
    """Returns the blocks of pairs that the kernel reads, which layers with the same masks share; a
    mask of a plug-in may differ from layer to layer.
    """
    device = at.q.device
    own = masking(scheme, at.layer)
    ours = all(type(one).__module__.startswith("extrap.") for one in own)

    def make() -> "BlockMask":
        T = at.length
        seen = at.visible

        def visible(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return seen[i, j]

        create = _of_torch("create_block_mask", device)
        return create(visible, None, None, T, T, str(device), BLOCK)

    return at.once(scheme, make, "block mask", own, None if ours else at.layer)


def masking(scheme: Scheme, layer: int) -> tuple[Scheme, ...]:
    """Returns the schemes of a stack that mask in a layer, wrappers among them."""
    inside = [masking(one, layer) for one in scheme.inner(layer)]
    own = () if type(scheme).sees in PASSED_ON else (scheme,)
    return (*own, *chain.from_iterable(inside))
