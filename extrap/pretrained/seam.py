"""Where transformers hands queries and keys over: a registered attention function in place of its
own, and rotary modules that turn nothing.

Both are in force within a `with` alone, so that a model of the caller stays as it was. Masks are
never laid out: the registered mask function passes on the rule that says which pair is visible.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from extrap.utils.errors import UserError
from extrap.utils.pip import install_extra

NAME = "extrap"
Attend = Callable[[nn.Module, Tensor, Tensor, Tensor, Any, dict[str, Any]], Tensor]
"""(module, q (B, H, T, D), k, v, mask, other arguments) -> (B, T, H, D)."""

_attend: list[Attend] = []
"""Attention of the models that run, the innermost model last."""


@contextmanager
def installed(place: object) -> Iterator[None]:
    """Raises UserError if an import within finds no package; place: the file or option at fault."""
    try:
        yield
    except ImportError as error:
        problem = f"needs the package {str(error.name).partition('.')[0]}"
        raise UserError(place, problem=problem, remedy=install_extra("pretrained")) from None


def transformers() -> Any:
    """Returns the package, with kernels of the hub off. Raises ImportError without it."""
    os.environ.setdefault("USE_HUB_KERNELS", "0")  # read by transformers as it is imported
    import transformers

    return transformers


@contextmanager
def quiet() -> Iterator[None]:
    """Silences reports and bars of transformers."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def reason(error: Exception) -> str:
    """Returns what an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def one_line(place: object) -> Iterator[None]:
    """Silences transformers and turns its errors, of whatever class, into one line."""
    with quiet():
        try:
            yield
        except UserError:
            raise
        except Exception as error:
            problem = f"transformers does not read it ({reason(error):.160})"
            raise UserError(place, problem=problem) from None


@cache
def _register() -> None:
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, _attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, _mask)


def _attention(module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Any = None, **more: Any):
    mask = more.pop("attention_mask", mask)
    return _attend[-1](module, q, k, v, mask, more), None


class Ruled(Tensor):
    """A mask that carries the rule of its pairs, through an index that takes all of it as well."""

    rule: Any = None

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if found.shape == self.shape:
            found.rule = self.rule
        return found


def _mask(
    batch_size: int, q_length: int, kv_length: int, mask_function: Any, device: Any, **more: Any
) -> Tensor:
    """Returns a mask of no pair, a view of one number, which carries the rule of all pairs."""
    none = torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=device)
    found = none.expand(batch_size, 1, q_length, kv_length).as_subclass(Ruled)
    found.rule = mask_function
    return found


class Before:
    """A cache of transformers without keys and values: it holds the number of tokens that the model
    has read before. Some models count positions from this number.
    """

    is_compileable = False

    def __init__(self, tokens: int):
        self.tokens = tokens

    def get_seq_length(self, *layer: Any) -> int:
        return self.tokens

    def get_query_offset(self, *layer: Any) -> int:
        return self.tokens

    def get_mask_sizes(self, queries: int, *layer: Any) -> tuple[int, int]:
        return queries, self.tokens

    def update(self, k: Tensor, v: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
        return k, v


@contextmanager
def through(net: nn.Module, attend: Attend) -> Iterator[None]:
    """Puts `attend` in place of the attention of `net`, within."""
    _register()
    configs = {id(m.config): m.config for m in net.modules() if hasattr(m, "config")}
    kept = [(config, config._attn_implementation) for config in configs.values()]
    _attend.append(attend)
    try:
        for config, _ in kept:
            config._attn_implementation = NAME
        yield
    finally:
        _attend.remove(attend)
        for config, before in kept:
            config._attn_implementation = before


@contextmanager
def replaced(changes: Mapping[nn.Module, Callable[[Any], Any]]) -> Iterator[None]:
    """Changes the forward of each module, within."""
    kept = {module: vars(module).get("forward") for module in changes}
    try:
        for module, change in changes.items():
            module.forward = change(module.forward)
        yield
    finally:
        for module, before in kept.items():
            if before is None:
                vars(module).pop("forward", None)
            else:
                module.forward = before


@contextmanager
def forgetting(net: nn.Module) -> Iterator[None]:
    """Gives modules without weights back what they held before. A rotary module under dynamic
    scaling otherwise keeps the frequencies of its longest text for shorter texts.
    """
    leaves = [m for m in net.modules() if not m._modules and next(m.parameters(), None) is None]
    kept = [(m, dict(vars(m)), dict(m._buffers)) for m in leaves]
    every = chain.from_iterable(buffers.values() for *_, buffers in kept)
    numbers = {buffer: buffer.clone() for buffer in every if buffer is not None}
    try:
        yield
    finally:
        for module, held, buffers in kept:
            vars(module).clear()
            vars(module).update(held)
            module._buffers.clear()
            module._buffers.update(buffers)
        for buffer, before in numbers.items():
            if not torch.equal(buffer, before):
                buffer.copy_(before)


def still(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a rotary forward that turns nothing: cos 1, sin 0."""
    return lambda *args, **more: turned(forward(*args, **more), 0.0)


def turned(rotation: Any, angle: Any, times: float = 1.0) -> Any:
    """Returns the output of a rotary module at other angles, (cos, sin) or complex numbers, times
    a number.
    """
    whole = rotation if isinstance(rotation, Tensor) else rotation[0]
    angle = torch.as_tensor(angle, dtype=torch.float32, device=whole.device).expand(whole.shape)
    if isinstance(rotation, Tensor):
        return torch.polar(times * torch.ones_like(angle), angle).to(rotation.dtype)
    return (times * angle.cos()).to(whole.dtype), (times * angle.sin()).to(whole.dtype)
