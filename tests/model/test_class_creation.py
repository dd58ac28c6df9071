"""A scheme class that would train NoPE under its own name is refused when Python creates it."""

import pytest
from torch import Tensor

from extrap.model.scheme import HOOKS, Scheme


@pytest.mark.parametrize(
    "name", ["bais", "bia", "distance_bais", "rotat", "mixx", "spectrun", "stretchh", "causal_onyl"]
)
def test_a_misspelt_hook(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^Mine\.{name}: one edit away from "):
        type("Mine", (Scheme,), {name: lambda self, *args: None})


@pytest.mark.parametrize("name", ["_bais", "slopes", "biases_of", *HOOKS])
def test_other_names(name: str) -> None:
    assert name in vars(type("Mine", (Scheme,), {name: lambda self, *args: None}))


def test_a_card_that_promises_a_hook() -> None:
    card = "Mine.\n\n    Kind: relative\n    Used by: -\n    "
    with pytest.raises(TypeError, match=r"^Mine: Kind: relative, and overrides no hook"):
        type("Mine", (Scheme,), {"__doc__": card, "slopes": lambda self: None})
    type("Mine", (Scheme,), {"__doc__": card.replace("relative", "none")})

    class Tilt(Scheme):
        def distance_bias(self, d: Tensor, layer: int) -> Tensor:
            return -0.05 * d

    type("Steeper", (Tilt,), {"__doc__": card})  # its parent acts
