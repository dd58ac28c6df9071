"""Every hook of every scheme takes and gives the shapes that its annotation says."""

import pytest
import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.model.watched import watch
from extrap.utils.errors import UserError
from tests.support.discover import gpt, names

T = 9
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")


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
        watch(model.scheme, name)
        model(tokens)
        at = model.where(tokens).at_layer(1, torch.randn(2, T, model.scheme.shape.dim).double())
        q, k, v = torch.randn(3, 2, 4, T, model.scheme.shape.head_dim, dtype=torch.float64)
        model.scheme.gate(model.scheme.attend(q, k, v, at), at)


class Wrong(Scheme):
    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return d


def test_a_wrong_shape_is_seen() -> None:
    scheme = Wrong(Shape(dim=32, heads=4))
    watch(scheme, "wrong")
    with pytest.raises(UserError, match=r"Wrong\.distance_bias returned .*\(9,\)"):
        scheme.distance_bias(torch.arange(T), 0)
