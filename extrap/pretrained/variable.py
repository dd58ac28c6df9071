"""A model in a variable as a model of the bench: a GPT of ours as it is, a model of transformers
through its adapter, any other callable for its logits alone.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from extrap.pretrained import adapter
from extrap.pretrained.plain import Plain
from extrap.utils.errors import NotApplicable, UserError

CAUSAL = "give a causal language model, as AutoModelForCausalLM loads it"


class Called(nn.Module):
    """A callable from ids (B, T) to logits (B, T, vocab), called as a GPT is; length: L in tokens.

    Raises OutOfRange for an IndexError past L, and UserError for anything but logits.
    """

    def __init__(self, call: Callable[..., Any], name: str, length: int):
        super().__init__()
        self.call, self.name, self.length = call, name, length

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        B, T = tokens.shape
        try:
            found = self.call(tokens)
        except IndexError as error:
            if self.length >= T:
                raise
            raise OutOfRange(f"{T} tokens lie past a table of {self.name}") from error
        logits = getattr(found, "logits", found)
        if (
            not isinstance(logits, Tensor)
            or not logits.is_floating_point()
            or logits.dim() != 3
            or logits.shape[:2] != (B, T)
        ):
            shape = getattr(logits, "shape", None)
            what = type(logits).__name__ if shape is None else f"a tensor of shape {tuple(shape)}"
            problem = f"returned {what} for ids of shape {(B, T)}"
            raise UserError("model", self.name, problem, "return logits (B, T, vocab)")
        return logits if last is None else logits[:, -last:]

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: a callable gives logits, and no way to its positions."""
        raise NotApplicable("model", self.name, "extrap reads its logits alone")


def length_of(subject: Any) -> int | None:
    """The context of a model in tokens, where the model or its config says."""
    if isinstance(subject, GPT):
        return subject.scheme.shape.length
    config = _config(subject)
    return None if config is None else adapter.length_of(config)


def name_of(subject: Any) -> str:
    """A name for rows and messages: the model_type, or that of the class or function."""
    config = _config(subject)
    kind = config.model_type if config is not None else getattr(subject, "__name__", None)
    return str(kind or type(subject).__name__).strip("<>_")


def device_of(subject: Any) -> torch.device:
    """Where the weights are; a function gets ids on the CPU."""
    weights = subject.parameters() if isinstance(subject, nn.Module) else iter(())
    return next((p.device for p in weights), torch.device("cpu"))


def check(subject: Any) -> None:
    """Raises UserError for what is no model, for a model without numbers (device meta), and for one
    with an encoder.
    """
    name = name_of(subject)
    if not callable(subject):
        remedy = "give a model, a path, a run, or a function from ids to logits"
        raise UserError("model", name, "is no model", remedy)
    if device_of(subject).type == "meta":
        remedy = "load its weights, as from_pretrained does"
        raise UserError("model", name, "is on device meta and holds no numbers", remedy)
    config = _config(subject)
    if config is not None and (getattr(config, "is_encoder_decoder", False) or _headless(subject)):
        raise UserError("model", name, "gives no logits of the next token", CAUSAL)


def adapted(subject: Any, length: int) -> nn.Module:
    """The model of the bench; length: L in tokens. Raises UserError for a callable that returns no
    logits, and for a model that looks ahead.
    """
    if isinstance(subject, GPT):
        return subject
    model = Called(subject, name_of(subject), length)
    if looks_ahead(model, device_of(subject)):
        problem = "sees later tokens, so its losses are not those of a language model"
        raise UserError("model", model.name, problem, CAUSAL)
    if _config(subject) is not None:
        try:
            return adapter.adapt(subject, length)
        except UserError as error:  # no layer can be reached
            return Plain(subject, length, error)
    return model


@torch.no_grad()
def looks_ahead(model: Callable[[Tensor], Tensor], device: torch.device) -> bool:
    """True if a later token changes the logits before it."""
    tokens = torch.arange(8, device=device)[None]
    other = torch.cat([tokens[:, :4], tokens[:, 4:].flip(1)], 1)
    before, after = (model(each)[:, :4] for each in (tokens, other))
    round_off = torch.finfo(before.dtype).eps ** 0.5
    return bool((before - after).abs().max() > round_off * before.std())


def _config(subject: Any) -> Any:
    """The config of a model of transformers, None of any other."""
    config = getattr(subject, "config", None)
    return config if hasattr(config, "get_text_config") else None


@torch.no_grad()
def _headless(net: Any) -> bool:
    ids = torch.zeros(1, 2, dtype=torch.long, device=device_of(net))
    return not hasattr(net(input_ids=ids), "logits")
