"""Hooks under watch: a mistake in a hook is an error that names the hook, where attention would
fail far from it. The annotations of model/scheme.py say what each hook takes and returns.
"""

import re
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from extrap.model.scheme import HOOKS, OutOfRange, Scheme, Where
from extrap.utils.errors import UserError
from extrap.utils.plugins import defined_at, fault

ANNOTATED = re.compile(r"""(\w+)\[Tensor, ["']([^"']*)["']\]""")
"""`Float[Tensor, "B H Tq D"]`: a type of numbers and the axes."""


def watch(scheme: Scheme, name: str, plugins: Iterable[str] = ()) -> tuple[set[str], list[str]]:
    """Sets every overridden hook of the parts of `scheme` under watch: it raises UserError if it
    fails or returns another shape than the annotation. Returns what the next forward fills: the
    classes of the parts whose hooks have changed something, and the hooks, with their places, that
    have made NaN or an infinity of finite numbers.
    """
    acted: set[str] = set()
    broken: list[str] = []
    for part in scheme.modules():
        if not isinstance(part, Scheme):
            continue
        for hook in HOOKS:
            overridden = getattr(type(part), hook) is not getattr(Scheme, hook)
            if overridden:
                held = _held(part, hook, name, tuple(plugins), acted, broken)
                object.__setattr__(part, hook, held)
    return acted, broken


def _held(
    part: Any, hook: str, name: str, plugins: tuple[str, ...], acted: set[str], broken: list[str]
) -> Callable[..., Any]:
    call = getattr(part, hook)
    cls = type(part).__name__
    who = f"{cls}.{hook}{defined_at(call)}"

    def held(*args: Any) -> Any:
        try:
            made = call(*args)
        except (UserError, OutOfRange):
            raise
        except Exception as error:
            problem = fault(error, "", plugins).problem
            raise UserError("scheme", name, f"{cls}.{hook}: {problem}") from error
        if expected := mismatch(hook, args, made, part):
            problem = f"{who} returned {_described(made)}"
            raise UserError("scheme", name, problem, f"return {expected}")
        if not _finite(made) and all(map(_finite, args)):
            broken.append(who)
        first = made[0] if isinstance(made, tuple) else made
        same = first is args[0]
        if made is not None and not same:
            acted.add(cls)
        return made

    return held


def mismatch(hook: str, args: tuple[Any, ...], made: Any, part: Scheme) -> str:
    """Returns what a hook must return, with the sizes of axes, if `made` has another shape."""
    of = signature(getattr(Scheme, hook))
    shape = part.shape
    sizes: dict[str, Any] = {"H": shape.heads, "D": shape.head_dim, "C": shape.dim}
    _, *arguments = of.parameters.values()
    for argument, value in zip(arguments, args, strict=True):
        if isinstance(value, Where):
            sizes["Tq"] = len(value.i)
            sizes["Tk"] = len(value.j)
        elif isinstance(value, Tensor):
            _, axes = ANNOTATED.findall(argument.annotation)[0]
            _fits(axes, tuple(value.shape), sizes)
    returned = of.return_annotation
    if made is None and "None" in returned:
        return ""
    wanted = ANNOTATED.findall(returned)
    values = made if isinstance(made, tuple) else (made,)
    right = len(values) == len(wanted)
    for value, (kind, axes) in zip(values, wanted, strict=False):
        right = right and _annotated(value, kind, axes, sizes)
    if right:
        return ""
    known = ", ".join(f"{axis}={size}" for axis, size in sizes.items())
    return f"{returned} where {known}"


def _annotated(value: Any, kind: str, axes: str, sizes: dict[str, Any]) -> bool:
    """True if a value is a tensor of this kind, Bool or another, whose shape fits the axes."""
    if not isinstance(value, Tensor):
        return False
    is_bool = value.dtype is torch.bool
    if is_bool != (kind == "Bool"):
        return False
    return _fits(axes, tuple(value.shape), sizes)


def _fits(axes: str, shape: tuple[int, ...], sizes: dict[str, Any]) -> bool:
    """True if a shape fits the axes; notes the sizes of axes that have none yet."""
    names: list[str] = []
    for axis in axes.split():
        if axis.startswith("*"):
            names += map(str, sizes.setdefault(axis, shape))
        else:
            names.append(axis)
    if names[:1] == ["..."]:
        names = names[1:]
        shape = shape[-len(names) :]
    if len(shape) != len(names):
        return False
    for axis, size in zip(names, shape, strict=True):
        if axis.isdigit():
            known = int(axis)
        else:
            known = sizes.setdefault(axis.removeprefix("#"), size)
        broadcast = size == 1 and axis.startswith("#")
        if size != known and not broadcast:
            return False
    return True


def _finite(value: Any) -> bool:
    tensors = value if isinstance(value, tuple) else (value,)
    return all(t.isfinite().all() for t in tensors if isinstance(t, Tensor))


def _described(made: Any) -> str:
    if isinstance(made, Tensor):
        return f"{made.dtype} {tuple(made.shape)}"
    if isinstance(made, tuple):
        return " and ".join(map(_described, made))
    return type(made).__name__
