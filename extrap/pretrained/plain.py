"""A model that extrap reads for its logits alone: a model of transformers whose positions no probe
reaches, or any callable from ids to logits.
"""

import inspect
from contextlib import nullcontext
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from extrap.model.fitting import full
from extrap.model.scheme import OutOfRange
from extrap.pretrained.causal import CAUSAL
from extrap.pretrained.seam import forgetting
from extrap.utils.errors import NotApplicable, UserError

LENGTHS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "n_ctx")
"""Where a config says the context that a model was trained for."""
ALLOWED = (OutOfRange, UserError, MemoryError, torch.OutOfMemoryError)
"""Errors of a model that say nothing about its length."""
NO_GRAPH = "does not require grad"
"""What torch says of a backward pass under no_grad."""


class Plain(nn.Module):
    """Tokens (B, T) -> logits (B, w, vocab) of the last w positions, as a GPT answers.

    Args:
        net: the model
        length: L in tokens
        why: a probe did not reach its positions

    A model that fails with several texts reads one after the other; one that takes gradients as it
    reads, and fails without, has them. Raises OutOfRange past a table of positions and where the
    model fails or crops its text past L; UserError where it does within L, and for anything but
    logits (B, T, vocab).
    """

    def __init__(self, net: Any, length: int, why: str = "no way to its positions"):
        super().__init__()
        self.net = net
        self.length = length
        self.why = why
        self.name = name_of(net)
        self.option, self.rows = "model", None
        self.cuts, self.more, self.single = False, {}, False
        self.learns = False
        if config_of(net) is not None:
            self.option = "model_type"
            self.rows = table_rows(net)
            self.more = {"use_cache": False}
            self.cuts = "logits_to_keep" in inspect.signature(net.forward).parameters

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        if len(tokens) == 1 or not self.single:
            try:
                return self._read(tokens, last)
            except (OutOfRange, UserError):
                if len(tokens) == 1:
                    raise
        # a model may answer in one buffer
        found = torch.cat([self._read(text[None], last).clone() for text in tokens])
        self.single = True
        return found

    def _read(self, tokens: Tensor, last: int | None) -> Tensor:
        B, T = tokens.shape
        if self.rows is not None and self.rows < T:
            # a GPU asserts past a table, and the process can go no further
            raise OutOfRange(f"{T} tokens lie past a table of {self.name}")
        fewer = {"logits_to_keep": last} if self.cuts and last is not None else {}
        held = forgetting(self.net) if isinstance(self.net, nn.Module) else nullcontext()
        try:
            # outside inference mode a function may take gradients of its own; a graph takes memory
            with held, torch.inference_mode(False), torch.set_grad_enabled(self.learns):
                found = self.net(tokens.clone(), **self.more, **fewer)
        except ALLOWED:
            raise
        except Exception as error:  # of whatever class the code of a model raises
            if full(error):
                raise
            if NO_GRAPH in str(error) and not self.learns:
                self.learns = True
                return self._read(tokens, last)
            if self.length < T:
                raise OutOfRange(f"{self.name} fails at {T} tokens ({_said(error)})") from error
            raise _fails(self.name, tokens, error) from error
        first = found[0] if isinstance(found, tuple | list) and found else found
        logits: Any = getattr(found, "logits", first)
        rows = T if last is None or not fewer else last
        tensor = isinstance(logits, Tensor) and logits.is_floating_point()
        each = tensor and logits.dim() == 3 and len(logits) == B and logits.numel() > 0
        if each and self.length < T and logits.shape[1] < rows:
            raise OutOfRange(f"{self.name} answers {logits.shape[1]} of {T} tokens")
        if not each or logits.shape[1] != rows:
            what = f"a tensor of shape {tuple(logits.shape)}" if tensor else type(logits).__name__
            problem = f"returned {what} for ids of shape {(B, T)}"
            raise UserError("model", self.name, problem, "return logits (B, T, vocab), a tensor")
        logits = logits.detach()
        return logits if last is None else logits[:, -last:]

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: the caller wants to act on positions."""
        problem = f"read for its logits alone ({self.why})"
        raise NotApplicable(self.option, self.name, problem)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _fails(name: str, ids: Tensor, error: Exception) -> UserError:
    """Returns the error for a model that raises one."""
    problem = f"fails at ids of shape {tuple(ids.shape)} ({_said(error):.100})"
    return UserError("model", name, problem)


def as_written(subject: Any) -> Any:
    """Returns the module that torch.compile wraps; anything else as it is."""
    return getattr(subject, "_orig_mod", subject)


def config_of(subject: Any) -> Any:
    """Returns the config of a model of transformers, None of any other."""
    config = getattr(subject, "config", None)
    return config if hasattr(config, "get_text_config") else None


def name_of(subject: Any) -> str:
    """Returns a name for rows and messages: the model_type, or the name of a class or function."""
    config = config_of(subject)
    kind = config.model_type if config is not None else getattr(subject, "__name__", None)
    return str(kind or type(subject).__name__).strip("<>_")


def length_of(config: Any) -> int | None:
    """Returns the context that a model was trained for, in tokens; None if the config is silent."""
    return length_in(config.get_text_config())


def length_in(text: Any) -> int | None:
    """Returns the same of the config of a decoder alone."""
    found = (getattr(text, name, None) for name in LENGTHS)
    return next((n for n in found if isinstance(n, int)), None)


def table_rows(net: Any) -> int | None:
    """Returns the positions of a table of positions; None without a table. The table of positions
    has a row for each position, and at most two unused rows before them in some families.
    """
    words = net.get_input_embeddings()
    length = length_of(net.config)
    tables = (m for m in net.modules() if isinstance(m, nn.Embedding) and m is not words)
    if length is not None and any(length <= m.num_embeddings <= length + 2 for m in tables):
        return length
    return None


def device_of(subject: Any) -> torch.device:
    """Returns where the weights are, of a model on several devices where it reads ids; a function
    gets ids on the CPU.
    """
    if layers := spread(subject):
        devices = [d for d in layers.values() if d not in ("cpu", "disk")]
        return torch.device(devices[0] if devices else "cpu")
    weights = subject.parameters() if isinstance(subject, nn.Module) else iter(())
    return next((p.device for p in weights), torch.device("cpu"))


def spread(subject: Any) -> dict[str, Any]:
    """Returns the device of each part of a model that accelerate laid out (device_map); else {}.
    Weights on the disk then count as device meta.
    """
    return getattr(subject, "hf_device_map", None) or {}


@torch.no_grad()
def check(subject: Any) -> None:
    """Raises UserError for an object that is no model, for a model without numbers (device meta),
    for one with an encoder, and for one whose forward raises an error.
    """
    name = name_of(subject)
    if not callable(subject) or isinstance(subject, type):
        remedy = "give a model, a path, a run, or a function from ids to logits"
        raise UserError("model", name, "is no model", remedy)
    if device_of(subject).type == "meta":
        remedy = "load its weights, as from_pretrained does"
        raise UserError("model", name, "is on device meta and holds no numbers", remedy)
    if (config := config_of(subject)) is None:
        return
    ids = torch.zeros(1, 2, dtype=torch.long, device=device_of(subject))
    if getattr(config, "is_encoder_decoder", False):
        raise UserError("model", name, "gives no logits of the next token", CAUSAL)
    try:
        found = subject(input_ids=ids)
    except ALLOWED:
        raise
    except Exception as error:  # of whatever class the code of a model raises
        if full(error):
            raise
        raise _fails(name, ids, error) from error
    if not hasattr(found, "logits"):
        raise UserError("model", name, "gives no logits of the next token", CAUSAL)
