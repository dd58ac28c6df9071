"""A model in a variable as a model of the bench: a GPT of ours as it is, a model of transformers
through its adapter, any other callable for its logits alone.
"""

from typing import Any

import torch
from torch import nn

from extrap.model.gpt import GPT
from extrap.pretrained import plain
from extrap.pretrained.adapter import adapted as of_transformers
from extrap.pretrained.plain import Plain, config_of, looks_ahead, name_of
from extrap.utils.errors import UserError

CAUSAL = "give a causal language model, as AutoModelForCausalLM loads it"


def length_of(subject: Any) -> int | None:
    """Returns the context of a model in tokens, if the model or its config says."""
    if isinstance(subject, GPT):
        return subject.scheme.shape.length
    config = config_of(subject)
    return None if config is None else plain.length_of(config)


def device_of(subject: Any) -> torch.device:
    """Returns where the weights are; a function gets ids on the CPU."""
    weights = subject.parameters() if isinstance(subject, nn.Module) else iter(())
    return next((p.device for p in weights), torch.device("cpu"))


def check(subject: Any) -> None:
    """Raises UserError for an object that is no model, for a model without numbers (device meta),
    and for one with an encoder.
    """
    name = name_of(subject)
    if not callable(subject):
        remedy = "give a model, a path, a run, or a function from ids to logits"
        raise UserError("model", name, "is no model", remedy)
    if device_of(subject).type == "meta":
        remedy = "load its weights, as from_pretrained does"
        raise UserError("model", name, "is on device meta and holds no numbers", remedy)
    config = config_of(subject)
    if config is not None and (getattr(config, "is_encoder_decoder", False) or _headless(subject)):
        raise UserError("model", name, "gives no logits of the next token", CAUSAL)


def adapted(subject: Any, length: int) -> nn.Module:
    """Returns the model of the bench; length: L in tokens. Raises UserError for a callable that
    returns no logits, or others for the same ids, and for a model that looks ahead.
    """
    if isinstance(subject, GPT):
        return subject
    model = Plain(subject, length)
    if not steady(model, device_of(subject)):
        problem = "returns other logits for the same ids"
        raise UserError("model", model.name, problem, "turn dropout and sampling off")
    if looks_ahead(model, device_of(subject)):
        problem = "sees later tokens, so its losses are not a language model's"
        raise UserError("model", model.name, problem, CAUSAL)
    return model if config_of(subject) is None else of_transformers(subject, length)


@torch.no_grad()
def steady(model: Any, device: torch.device) -> bool:
    """True if the model returns the same logits for the same ids, nan included."""
    tokens = torch.arange(8, device=device)[None]
    return torch.allclose(model(tokens), model(tokens), rtol=1e-2, atol=1e-3, equal_nan=True)


@torch.no_grad()
def _headless(net: Any) -> bool:
    ids = torch.zeros(1, 2, dtype=torch.long, device=device_of(net))
    return not hasattr(net(input_ids=ids), "logits")
