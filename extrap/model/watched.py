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
            if getattr(type(part), hook) is not getattr(Scheme, hook):
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
        if made is not None and first is not args[0]:
            acted.add(cls)
        return made

    return held


def mismatch(hook: str, args: tuple[Any, ...], made: Any, part: Scheme) -> str:
    """Returns what a hook must return, with the sizes of axes, if `made` has another shape."""
    of = signature(getattr(Scheme, hook))
    shape = part.shape
    sizes: dict[str, Any] = {"H": shape.heads, "D": shape.head_dim, "C": shape.dim}
    for argument, value in zip(list(of.parameters.values())[1:], args, strict=True):
        if isinstance(value, Where):
            sizes |= {"Tq": len(value.i), "Tk": len(value.j)}
        elif isinstance(value, Tensor):
            _fits(ANNOTATED.findall(argument.annotation)[0][1], tuple(value.shape), sizes)
    if made is None and "None" in of.return_annotation:
        return ""
    wanted = ANNOTATED.findall(of.return_annotation)
    values = made if isinstance(made, tuple) else (made,)
    right = len(values) == len(wanted) and all(
        _annotated(value, kind, axes, sizes)
        for value, (kind, axes) in zip(values, wanted, strict=True)
    )
    known = ", ".join(f"{axis}={size}" for axis, size in sizes.items())
    return "" if right else f"{of.return_annotation} where {known}"


def _annotated(value: Any, kind: str, axes: str, sizes: dict[str, Any]) -> bool:
    """True if a value is a tensor of this kind, Bool or another, whose shape fits the axes."""
    if not isinstance(value, Tensor) or (value.dtype is torch.bool) != (kind == "Bool"):
        return False
    return _fits(axes, tuple(value.shape), sizes)


def _fits(axes: str, shape: tuple[int, ...], sizes: dict[str, Any]) -> bool:
    """True if a shape fits the axes; notes the sizes of axes that have none yet."""
    names: list[str] = []
    for axis in axes.split():
        names += map(str, sizes.setdefault(axis, shape)) if axis.startswith("*") else [axis]
    if names[:1] == ["..."]:
        names = names[1:]
        shape = shape[-len(names) :]
    if len(shape) != len(names):
        return False
    for axis, size in zip(names, shape, strict=True):
        known = int(axis) if axis.isdigit() else sizes.setdefault(axis.removeprefix("#"), size)
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
    return " and ".join(map(_described, made)) if isinstance(made, tuple) else type(made).__name__
