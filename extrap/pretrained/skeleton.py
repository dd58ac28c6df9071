"""A copy of a model without its weights."""

import re
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

LAID = 2**28
"""Numbers that are laid out in memory at most, 1 GiB. A product copies numbers that overlap."""
LAYER = re.compile(r"\.\d+\.")


def bare(net: Any) -> Any:
    """Returns a quantised model of transformers with its matrices in floating point, on device
    meta; any other model as it is.
    """
    if getattr(net, "hf_quantizer", None) is None:
        return net
    config = deepcopy(net.config)
    vars(config).pop("quantization_config", None)
    with torch.device("meta"):
        return type(net)._from_config(config, dtype=torch.float32).eval()


def copy_of(net: nn.Module) -> nn.Module:
    """Returns a copy on the CPU whose weights are random numbers, which the layers share; they
    overlap in memory if the weights of a layer are large. Buffers of a model without storage are
    made as transformers makes them.
    """
    g = torch.Generator().manual_seed(0)
    names = {id(p): (LAYER.sub(".", name, 1), p.shape) for name, p in net.named_parameters()}
    numbers = sum(shape.numel() for _, shape in set(names.values()))
    laid: dict[tuple[str, torch.Size], Tensor] = {}
    drawn: dict[int, nn.Parameter] = {}
    for p in net.parameters():
        name = names[id(p)]
        if name not in laid:
            few = _overlapping(p, g)
            laid[name] = few.contiguous() if numbers <= LAID else few
        drawn[id(p)] = nn.Parameter(laid[name], requires_grad=False)
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
            getattr(module, "_init_weights", made._init_weights)(module)
    return made


def _overlapping(p: Tensor, g: torch.Generator) -> Tensor:
    """Returns numbers of this shape that need memory for one row and one column."""
    if p.dim() == 1:
        return 1 + 0.1 * torch.randn(p.shape, generator=g)
    few = torch.randn(sum(p.shape), generator=g) * p.shape[-1] ** -0.5
    return few.as_strided(p.shape, (1,) * p.dim())
