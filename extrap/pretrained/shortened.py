"""A copy of a model whose every length is short: windows, chunks, top-k, the context itself. A text
of a few tokens passes all of them, whatever the lengths of the model.

A number of the config is a length if no weight changes its shape with the number. Some are none
(the id of a token, a scale): the copy then is another model, read alike.
"""

from copy import deepcopy
from typing import Any

import torch
from torch import nn

from extrap.pretrained.layer import Layer
from extrap.pretrained.seam import transformers

SHORT = 9
"""Tokens of every length; more than a probe reads, so that a probe passes none."""


def shortened(net: Any, layers: list[Layer]) -> nn.Module | None:
    """Returns the copy, without storage; None if the config has no length. layers: what a probe
    found. Raises ValueError if no class makes a copy with the attention of the model.
    """
    config = deepcopy(net.config)
    text = config.get_text_config()
    kind, shapes = _class(net, layers)
    made = None
    for name, value in [*vars(text).items()]:
        if (short := _short(value)) == value:
            continue
        setattr(text, name, short)
        built = _built(kind, config)
        if built is not None and _shapes(built) == shapes:
            made = built
        else:
            setattr(text, name, value)
    return made


def _class(net: Any, layers: list[Layer]) -> tuple[type, dict[str, torch.Size]]:
    """Returns a class that makes a model of the config, and the shapes of its weights: the class of
    the model, or the family's own for one that is wrapped or quantised around the same attention.
    """
    family = transformers().AutoModelForCausalLM._model_mapping.get(type(net.config), None)
    attention = {type(net.get_submodule(layer.name)) for layer in layers}
    for kind in (type(net), family):
        built = _built(kind, net.config)
        if built is None or not attention <= {type(module) for module in built.modules()}:
            continue
        if kind is family or _shapes(built) == _shapes(net):
            return kind, _shapes(built)
    raise ValueError(f"{type(net).__name__} makes no model of its config")


def of_each_kind(made: nn.Module, layers: list[Layer]) -> nn.Module:
    """Returns a model with as many first layers as hold one of each kind; `made` stays as it was.
    layers: what a probe found. Layers are of one kind if it found the same in both, and if their
    modules, shapes and options are the same.
    """
    fewer = deepcopy(made)
    found = {layer.block: layer for layer in layers}
    for name in {block.rpartition(".")[0] for block in found}:
        blocks = fewer.get_submodule(name)
        if not isinstance(blocks, nn.ModuleList):
            continue
        first: dict[str, int] = {}
        options = [_options(block) for block in blocks]
        own = _numbers(options)
        for n in range(len(blocks)):
            plain = {word: x for word, x in options[n].items() if word not in own}
            kind = _kind(blocks[n], n, found.get(f"{name}.{n}"), len(blocks))
            first.setdefault(repr((plain, kind)), n)
        parent, _, last = name.rpartition(".")
        setattr(fewer.get_submodule(parent), last, blocks[: max(first.values()) + 1])
    return fewer


def _numbers(options: list[dict[tuple[str, str], Any]]) -> set[tuple[str, str]]:
    """Returns the options that hold the number of their layer in every layer."""
    found = {word for word, value in options[0].items() if value == 0}
    for n, own in enumerate(options):
        found = {word for word in found if own.get(word) == n}
    return found


def _options(block: nn.Module) -> dict[tuple[str, str], Any]:
    """Returns the plain values that the modules of a layer hold. One that is the number of the
    layer in every layer is no option.
    """
    found = {}
    for name, module in block.named_modules():
        for word, x in vars(module).items():
            if type(x) in (bool, int, float, str):
                found[name, word] = x
    return found


def _kind(block: nn.Module, n: int, layer: Layer | None, layers: int) -> list[Any]:
    """Returns the modules and shapes of layer n, entries of the config for it, and what a probe
    found.
    """
    kind: list[Any] = [(name, p.shape) for name, p in block.named_parameters()]
    for name, module in block.named_modules():
        kind.append((name, type(module)))
        each = vars(getattr(module, "config", None) or object).values()
        kind += [x[n] for x in each if isinstance(x, list) and len(x) == layers]
    if layer is not None:
        source = layer.source and (layer.source.name, layer.source.args[1:], layer.source.more)
        kind.append({**vars(layer), "name": 0, "block": 0, "inputs": 0, "source": source})
    return kind


def _short(value: Any) -> Any:
    """Returns a value of a config with SHORT in place of every greater whole number inside."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_short(part) for part in value]
    return min(value, SHORT) if type(value) is int else value


def _built(kind: Any, config: Any) -> nn.Module | None:
    """Returns a model without storage; None if there is no class, or if it refuses the config."""
    try:
        with torch.device("meta"):
            return kind._from_config(deepcopy(config)).eval()
    except Exception:  # of whatever class the code of a model raises
        return None


def _shapes(net: nn.Module) -> dict[str, torch.Size]:
    return {name: p.shape for name, p in net.named_parameters()}
