"""A copy of a model whose every length is short: windows, chunks, top-k, the context itself. A text
of a few tokens passes all of them, whatever the lengths of the model.

A number of the config is a length if no weight changes its shape with the number. Some are none
(the id of a token, a scale): the copy then is another model, read alike.
"""

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from extrap.pretrained.skeleton import copy_of

SHORT = 9
"""Tokens of every length; more than a probe reads, so that a probe passes none."""


def shortened(net: Any) -> nn.Module | None:
    """Returns the copy, with weights as copy_of draws them; None if its class makes none, or if
    the config has no length.
    """
    config = deepcopy(net.config)
    text = config.get_text_config()
    shapes, made = _shapes(net), None
    for name, value in [*vars(text).items()]:
        if (short := _short(value)) == value:
            continue
        setattr(text, name, short)
        built = _built(type(net), config)
        if built is not None and _shapes(built) == shapes:
            made = built
        else:
            setattr(text, name, value)
    return None if made is None else copy_of(made)


def _short(value: Any) -> Any:
    """Returns a value of a config with SHORT in place of every greater whole number inside."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_short(part) for part in value]
    return min(value, SHORT) if type(value) is int else value


def _built(kind: type, config: Any) -> nn.Module | None:
    """Returns a model without storage; None if its class refuses the config."""
    try:
        with torch.device("meta"):
            return kind._from_config(deepcopy(config)).eval()  # type: ignore[attr-defined]
    except Exception:  # of whatever class the code of a model raises
        return None


def _shapes(net: nn.Module) -> dict[str, torch.Size]:
    return {name: p.shape for name, p in net.named_parameters()}
