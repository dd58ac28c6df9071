"""A copy of a model without its weights."""

from copy import deepcopy

import torch
from torch import Tensor, nn


def copy_of(net: nn.Module) -> nn.Module:
    """Returns a copy on the CPU whose weights are random numbers that overlap in memory. Buffers of
    a model without storage are made as transformers makes them.
    """
    g = torch.Generator().manual_seed(0)
    drawn = {id(p): nn.Parameter(_overlapping(p, g), requires_grad=False) for p in net.parameters()}
    for p in drawn.values():
        p._is_hf_initialized = True  # type: ignore[attr-defined] # _init_weights leaves it alone
    made = deepcopy(net, drawn).eval()  # type: ignore[arg-type]
    for module in made.modules():
        if hasattr(module, "config"):
            module.config._experts_implementation = "eager"  # others refuse overlapping memory
        mine = dict(module.named_buffers(recurse=False))
        for name, b in mine.items():
            vars(module)["_buffers"][name] = (
                torch.empty_like(b, device="cpu") if b.is_meta else b.cpu()
            )
        if any(b.is_meta for b in mine.values()):
            made._init_weights(module)
    return made


def _overlapping(p: Tensor, g: torch.Generator) -> Tensor:
    """Returns numbers of this shape that need memory for one row and one column."""
    if p.dim() == 1:
        return 1 + 0.1 * torch.randn(p.shape, generator=g)
    few = torch.randn(sum(p.shape), generator=g) * p.shape[-1] ** -0.5
    return few.as_strided(p.shape, (1,) * p.dim())
