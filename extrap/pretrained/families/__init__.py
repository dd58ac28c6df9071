"""One family per file that becomes a GPT of ours, because its positions are no rotation: ALiBi and
learned tables.

MODEL_TYPES: the `model_type` of its configs; options(config): of the GPT; scheme(shape, config);
weights(state, config): its state dict from that of transformers. Variants that have no form in the
GPT are not told apart here: a GPT whose logits differ from those of the model is not used.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

import torch

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape


@cache
def by_model_type() -> dict[str, ModuleType]:
    """Returns the family of each model_type that has a file here."""
    found = (
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    )
    return {kind: module for module in found for kind in module.MODEL_TYPES}


def converted(net: Any, length: int) -> GPT | None:
    """Returns a GPT with the weights of a transformers model, which both share; None for a family
    that has no file here, or a variant that a GPT has no form for.
    """
    config, empty = net.config, net.device.type == "meta"
    family = by_model_type().get(config.model_type)
    if family is None:
        return None
    tied = net.get_output_embeddings().weight is net.get_input_embeddings().weight
    options = {"head": "shared" if tied else "untied", "norm": "layer", "bias": "all"}
    options |= family.options(config)
    try:
        with torch.device("meta"):
            made = GPT(None, config.vocab_size, Decoder(**options))  # type: ignore[arg-type]
        shape = Shape(
            options["dim"], options["heads"], options["layers"], length, config.vocab_size, "layer"
        )
        made.scheme = family.scheme(shape, config)
        if empty:
            made.scheme = made.scheme.to("meta")
            return made.eval()
        weights = family.weights(net.state_dict(), config)
        made.load_state_dict({n: t for n, t in weights.items() if made.head or n != "head.weight"},
                             assign=True)  # fmt: skip
    except (KeyError, ValueError, RuntimeError):
        return None
    return made.requires_grad_(True).train(net.training)
