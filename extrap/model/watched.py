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
from extrap.utils.plugins import fault

ANNOTATED = re.compile(r"""(\w+)\[Tensor, ["']([^"']*)["']\]""")
"""`Float[Tensor, "B H Tq D"]`: a type of numbers and the axes."""


def watch(scheme: Scheme, name: str, plugins: Iterable[str] = ()) -> set[str]:
    """Sets every overridden hook of the parts of `scheme` under watch: it raises UserError if it
    fails or returns another shape than the annotation. Returns the classes of the parts whose hooks
    have changed something, a set that the next forward fills.
    """
    acted: set[str] = set()
    for part in scheme.modules():
        if isinstance(part, Scheme):
            for hook in HOOKS:
                if getattr(type(part), hook) is not getattr(Scheme, hook):
                    held = _held(part, hook, name, tuple(plugins), acted)
                    object.__setattr__(part, hook, held)
    return acted


def _held(
    part: Scheme, hook: str, name: str, plugins: tuple[str, ...], acted: set[str]
) -> Callable[..., Any]:
    call, cls = getattr(part, hook), type(part).__name__

    def held(*args: Any) -> Any:
        try:
            made = call(*args)
        except (UserError, OutOfRange):
            raise
        except Exception as error:
            problem = fault(error, "", plugins).problem
            raise UserError("scheme", name, f"{cls}.{hook}: {problem}") from error
        if expected := mismatch(hook, args, made, part):
            problem = f"{cls}.{hook} returned {_described(made)}"
            raise UserError("scheme", name, problem, f"return {expected}")
        if made is not None and (made[0] if isinstance(made, tuple) else made) is not args[0]:
            acted.add(cls)
        return made

    return held


def mismatch(hook: str, args: tuple[Any, ...], made: Any, part: Scheme) -> str:
    """Returns the shapes that a hook must return if `made` has others, else nothing."""
    of = signature(getattr(Scheme, hook))
    shape = part.shape
    sizes: dict[str, Any] = {"H": shape.heads, "D": shape.head_dim, "C": shape.dim}
    for argument, value in zip(list(of.parameters.values())[1:], args, strict=True):
        if isinstance(value, Where):
            sizes |= {"Tq": len(value.i), "Tk": len(value.j)}
        elif isinstance(value, Tensor):
            _fits(ANNOTATED.findall(argument.annotation)[0][1], tuple(value.shape), sizes)
    wanted = ANNOTATED.findall(of.return_annotation)
    if made is None and "None" in of.return_annotation:
        return ""
    values = made if isinstance(made, tuple) else (made,)
    right = len(values) == len(wanted) and all(
        isinstance(value, Tensor)
        and (value.dtype is torch.bool) == (kind == "Bool")
        and _fits(axes, tuple(value.shape), sizes)
        for value, (kind, axes) in zip(values, wanted, strict=True)
    )
    return "" if right else " and ".join(_written(kind, axes, sizes) for kind, axes in wanted)


def _fits(axes: str, shape: tuple[int, ...], sizes: dict[str, Any]) -> bool:
    """True if a shape fits the axes; notes the sizes of axes that have none yet."""
    names = axes.split()
    if names and names[0] == "...":
        names = names[1:]
        shape = shape[max(0, len(shape) - len(names)) :]
    if names and names[-1].startswith("*"):
        rest = sizes.setdefault(names[-1], shape[len(names) - 1 :])
        if shape[len(names) - 1 :] != rest:
            return False
        names, shape = names[:-1], shape[: len(names) - 1]
    return len(shape) == len(names) and all(
        size in _sizes(axis, sizes, size) for axis, size in zip(names, shape, strict=True)
    )


def _sizes(axis: str, sizes: dict[str, Any], size: int) -> tuple[int, ...]:
    """Returns the sizes that an axis may have; an axis without one gets `size`."""
    if axis.isdigit():
        return (int(axis),)
    known = sizes.setdefault(axis.removeprefix("#"), size)
    return (1, known) if axis.startswith("#") else (known,)


def _written(kind: str, axes: str, sizes: dict[str, Any]) -> str:
    """Returns axes in numbers and letters: `Float (1 or 4, 48), axes #H *d`."""
    numbers: list[str] = []
    for axis in axes.split():
        known = sizes.get(axis.removeprefix("#"), axis)
        if axis.startswith("*"):
            numbers += map(str, sizes[axis])
        else:
            numbers.append(f"1 or {known}" if axis.startswith("#") else str(known))
    return f"{kind} ({', '.join(numbers)}), axes {axes}"


def _described(made: Any) -> str:
    """Returns what a hook returned, in the words of `_written`."""
    if isinstance(made, tuple):
        return " and ".join(map(_described, made)) or "nothing"
    if not isinstance(made, Tensor):
        return type(made).__name__
    kind = "Bool" if made.dtype is torch.bool else "Float" if made.is_floating_point() else "Int"
    return f"{kind} ({', '.join(map(str, made.shape))})"
