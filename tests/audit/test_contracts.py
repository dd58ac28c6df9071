"""A scheme that breaks a contract is told which one; `extrap judge` shows the line."""

import pytest
import torch
from torch import nn

from extrap.audit import extension_contracts
from extrap.audit.contracts import EXCUSED, NOT_CHECKED, ON_PURPOSE, around, broken, maker
from extrap.audit.subject import Extended
from extrap.extensions.base import SchemeExtension, with_parts
from extrap.extensions.nbce import NBCE
from extrap.figures.report import verdict
from extrap.model.scheme import Scheme, Shape
from extrap.schemes.alibi import ALiBi
from extrap.schemes.fire import FIRE
from extrap.utils.errors import NotApplicable


class Ahead(Scheme):
    """Kind: relative
    Past L: defined
    """

    def embed(self, x, at):
        return x + x.mean(1, keepdim=True)


class Mixed(Scheme):
    """Kind: relative
    Past L: defined
    """

    def gate(self, out, at):
        return out + out.mean(0, keepdim=True)


class Idle(Scheme):
    """Kind: absolute
    Past L: defined
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.unused = nn.Parameter(torch.zeros(3))

    def distance_bias(self, d, layer):
        return (-0.1 * d).expand(self.shape.heads, *d.shape)


class Deep(Scheme):
    """Kind: relative
    Past L: defined
    """

    def distance_bias(self, d, layer):
        slopes = [0.1]
        return (-slopes[layer] * d).expand(self.shape.heads, *d.shape)


class Late(Scheme):
    """Kind: relative
    Past L: defined
    """

    def distance_bias(self, d, layer):
        far = torch.where(d > self.shape.length, torch.nan, -1.0 * d)
        return far.expand(self.shape.heads, *d.shape)


class Wrong(SchemeExtension):
    def extend(self, scheme: Scheme) -> Scheme:
        return with_parts(scheme, Late(scheme.shape))


def told(kind: type[Scheme]) -> set[str]:
    def make(seed=0, dtype=torch.float64, **shape):
        torch.manual_seed(seed)
        own = {"dim": 32, "heads": 4, "layers": 2, "length": 64, "vocab": 50} | shape
        return around(kind(Shape(**own)), dtype)

    return {says for says, why in broken(make).items() if why}


def test_each_broken_contract_is_told() -> None:
    assert told(ALiBi) == set()
    assert {
        "no logit depends on a later token",
        "the beginning of a text is read as if it stood alone",
    } <= told(Ahead)
    assert "a text is read the same beside another" in told(Mixed)
    assert told(Idle) == {
        "training reaches every parameter",
        "its card says whether it feels a constant that is added to all positions",
    }
    assert len(told(Deep)) > 5, "an IndexError"


def test_a_scheme_is_checked_in_a_shape_that_suits_its_options() -> None:
    eighth = {"_target_": "extrap.schemes.partial_rope.PartialRoPE", "fraction": 0.125}
    like = Shape(dim=64, heads=4, layers=1, length=64)
    assert not any(broken(maker(eighth, (), like)).values())
    narrow = broken(maker(eighth))
    assert narrow["no logit depends on a later token"].startswith("scheme.fraction=0.125: of 8 ")
    short = {"_target_": "extrap.schemes.randomised.RandomisedPositions", "maximum": 100}
    found = broken(maker(short, (), like))
    shift = "its card says whether it feels a constant that is added to all positions"
    assert found[shift].startswith(f"{NOT_CHECKED}scheme.maximum=100: must hold")
    assert found["two models share nothing, and weights are all that one holds"] == ""


def test_a_contract_that_is_broken_on_purpose_comes_with_the_reason() -> None:
    found = broken(maker({"_target_": "extrap.schemes.fire.FIRE"}))
    (why,) = filter(None, found.values())
    assert why == f"{ON_PURPOSE}{EXCUSED[FIRE, 'shifted']}"
    assert verdict._held(why) == why and verdict.ON_PURPOSE == ON_PURPOSE


def test_a_contract_that_an_extension_breaks_is_named() -> None:
    make = maker({"_target_": "extrap.schemes.rope.RoPE"})
    found = extension_contracts.broken("mine", Wrong(), make)
    wrong = {says for says, why in found.items() if why and not why.startswith(NOT_CHECKED)}
    inside, outside = (
        str(extension_contracts.CONTRACTS[one].__doc__) for one in ("inside", "outside")
    )
    assert wrong >= {inside, outside}
    assert found[outside] == "not finite" and found[inside].startswith("differs by")


def test_an_extension_in_windows_holds_its_contracts_and_has_no_cost() -> None:
    node = {"_target_": "extrap.schemes.rope.RoPE"}
    windows = NBCE()
    found = extension_contracts.broken("nbce", windows, maker(node))
    starts = {why.partition(": ")[0] for why in found.values()}
    assert starts == {"", ON_PURPOSE.rstrip(": "), NOT_CHECKED.rstrip(": ")}
    with pytest.raises(NotApplicable, match="several windows"):
        Extended("mine", node, (), windows).scheme()
