"""Every hook of every scheme takes and gives the shapes that its annotation says."""

from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import jaxtyping
import pytest
import torch
from jaxtyping import Float, jaxtyped
from torch import Tensor

from extrap.model.gpt import GPT
from extrap.model.scheme import HOOKS, Scheme, Shape
from extrap.utils.errors import UserError
from tests.support.discover import gpt, names

HINTS = {hook: get_type_hints(getattr(Scheme, hook), None, vars(jaxtyping)) for hook in HOOKS}
T = 9
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")


def fits(value: Any, hint: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(fits, value, get_args(hint)))
    return isinstance(value, hint)


def checked(hook: str, call: Callable[..., Any], shape: Shape) -> Callable[..., Any]:
    """The hook, held to the annotation of the base class; H, D and C come from the scheme."""
    *takes, gives = HINTS[hook].values()

    def held(*args: Any) -> Any:
        with jaxtyped("context"):
            assert isinstance(
                torch.empty(shape.heads, shape.head_dim, shape.dim), Float[Tensor, "H D C"]
            )
            for value, hint in zip(args, takes, strict=True):
                assert fits(value, hint), f"{hook} takes {hint}, was given {value.shape}"
            made = call(*args)
            assert fits(made, gives), f"{hook} gives {gives}, not {_shapes(made)}"
            return made

    return held


def _shapes(made: Any) -> Any:
    return [one.shape for one in made] if isinstance(made, tuple) else made.shape


def hold(model: GPT) -> None:
    for part in model.scheme.modules():
        if isinstance(part, Scheme):
            for hook in HOOKS:
                object.__setattr__(part, hook, checked(hook, getattr(part, hook), part.shape))


@pytest.mark.parametrize("name", names("scheme"))
@torch.no_grad()
def test_hooks_keep_to_their_shapes(name: str) -> None:
    tokens = torch.arange(2 * T).view(2, T)
    for shared in ({}, {"kv_heads": 2}):
        try:
            model = gpt(name, **shared)
        except UserError:
            assert shared
            continue
        hold(model)
        model(tokens)
        at = model.where(tokens).at_layer(1, torch.randn(2, T, model.scheme.shape.dim).double())
        q, k, v = torch.randn(3, 2, 4, T, model.scheme.shape.head_dim, dtype=torch.float64)
        model.scheme.gate(model.scheme.attend(q, k, v, at), at)


class Wrong(Scheme):
    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return d


def test_a_wrong_shape_is_seen() -> None:
    scheme = Wrong(Shape(dim=32, heads=4))
    held = checked("distance_bias", scheme.distance_bias, scheme.shape)
    with pytest.raises(AssertionError, match=r"distance_bias gives .*H \*d"):
        held(torch.arange(T).double(), 0)
