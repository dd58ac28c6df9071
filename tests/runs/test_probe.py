"""Schemes of other people: what is wrong inside them is said, with its line, before any work."""

import sys

import pytest
import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Where
from extrap.runs.build import build
from extrap.runs.validate import check_scheme
from extrap.utils.errors import UserError
from tests.support.discover import gpt, names


class LooksAhead(Scheme):
    """Adds what comes next to every token."""

    def embed(self, x: Tensor, at: Where) -> Tensor:
        return x + torch.cat([x[:, 1:], x[:, :1]], 1)


class Unmasked(Scheme):
    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        return torch.softmax(q @ k.mT, -1) @ v


class Restless(Scheme):
    def embed(self, x: Tensor, at: Where) -> Tensor:
        return x + torch.randn_like(x)


class TwoFaced(Scheme):
    """The bias that the kernel adds is not in the definition."""

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return -at.distance.to(q.dtype)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        s = (q @ k.mT * at.scale).masked_fill(~at.visible, float("-inf"))
        return torch.softmax(s, -1) @ v

    def uses(self, *hooks: str, **more: object) -> bool:
        return "attend" not in hooks and super().uses(*hooks, **more)


class ZeroOverZero(Scheme):
    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return (-d / d).expand(self.shape.heads, *d.shape)


class Endless(Scheme):
    """-inf at distance 0."""

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return d.log().expand(self.shape.heads, *d.shape)


@pytest.mark.parametrize(
    ("scheme", "line"),
    [
        (ZeroOverZero, r"ZeroOverZero\.distance_bias in .*, line \d+ makes NaN or infinite logits"),
        (Endless, r"Endless\.distance_bias in .*, line \d+ makes NaN or infinite logits"),
        (LooksAhead, "looks ahead"),
        (Unmasked, "looks ahead"),
        (Restless, "other logits when it reads the same text again"),
        (TwoFaced, "its kernel"),
    ],
)
def test_a_scheme_that_is_no_language_model_is_refused(scheme, line):
    model = gpt("nope", layers=1)
    model.scheme = scheme(model.scheme.shape)
    with pytest.raises(UserError, match=rf"^scheme=mine: .*{line}"):
        check_scheme(model, "mine")


class Hooks:
    """Hooks with a mistake each, as a newcomer makes them."""

    def no_heads(self, d: Tensor, layer: int) -> Tensor:
        return -0.1 * d

    def queries_alone(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return q

    def of_numbers(self, at: Where) -> Tensor:
        return at.distance

    def of_nobody(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return q.new_zeros(3, 5)

    def without_layer(self, d: Tensor) -> Tensor:
        return -d

    def of_no_option(self, d: Tensor, layer: int) -> Tensor:
        return -self.slop * d


AT = r"in .*test_probe\.py, line \d+"
RETURNED = rf"{AT} returned torch\.float64"
WRONG = {
    "distance_bias": {
        "no_heads": RETURNED + r" \(48,\); return .*#H \*d.* where H=4, .*\*d=\(48,\)$",
        "without_layer": r"TypeError: .* takes 2 positional arguments but 3 were given",
        "of_no_option": rf"AttributeError {AT}: .* 'slop'",
    },
    "positions": {"of_no_option": "TypeError"},
    "rotate": {"queries_alone": RETURNED + r" \(1, 4, 48, 8\); return tuple\["},
    "sees": {"of_numbers": RETURNED + r" \(48, 48\); return Bool.*Tq=48, Tk=48$"},
    "bias": {"of_nobody": RETURNED + r" \(3, 5\); .*\.\.\. #Tq #Tk.*Tq=48, .*Tk=48$"},
}


@pytest.mark.parametrize(("hook", "case"), [(h, case) for h in WRONG for case in WRONG[h]])
def test_a_mistake_in_a_hook_names_the_hook(hook, case):
    mine = type("Mine", (Scheme,), {hook: getattr(Hooks, case)})
    model = gpt("nope", layers=1)
    model.scheme = mine(model.scheme.shape)
    with pytest.raises(UserError, match=rf"^scheme=mine: Mine\.{hook}:? {WRONG[hook][case]}"):
        check_scheme(model, "mine", ["tests"])


def test_a_scheme_that_changes_nothing_is_said():
    for members in ({"my_bias": lambda self: 1}, {"bias": lambda self, q, k, at: None}):
        model = gpt("nope", layers=1)
        model.scheme = type("Mine", (Scheme,), members)(model.scheme.shape)
        with pytest.warns(UserWarning, match="no hook of it changes anything"):
            check_scheme(model, "mine", ["tests"])


@pytest.mark.filterwarnings("ignore::UserWarning")  # advice of schemes on small models
@pytest.mark.parametrize("name", names("scheme"))
def test_every_scheme_of_ours_passes(name):
    check_scheme(gpt(name), name)


MODULES = {
    "imports what is not there": ("import nothing_of_that_name\n", "ModuleNotFoundError", 1),
    "imports a name that is not there": ("\nfrom math import tau2\n", "ImportError", 2),
    "is not Python": ("x = 1\nclass Mine(:\n", "SyntaxError", 2),
    "fails while it is read": ("x = 1\ny = 2\nx / 0\n", "ZeroDivisionError", 3),
    "misspells a hook": (
        "from extrap import Scheme\nclass Mine(Scheme):\n    def bais(self, q, k, at): ...\n",
        "TypeError",
        2,
    ),
}


@pytest.mark.parametrize("case", MODULES)
def test_a_mistake_inside_a_plug_in_is_told_with_its_line(case, tmp_path, monkeypatch):
    text, kind, line = MODULES[case]
    package = f"broken_{abs(hash(case))}"
    (tmp_path / f"{package}.py").write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(UserError) as error:
        build({"_target_": f"{package}.Mine"}, "scheme", [package], Scheme)
    said = f"scheme._target_={package}.Mine: {kind} in {tmp_path / package}.py, line {line}: "
    assert str(error.value).startswith(said)


def test_a_class_that_does_not_exist_is_told_as_such():
    for target in ("extrap.schemes.rope.Ropee", "extrap.schemes.ropee.RoPE", "extrap..RoPE"):
        with pytest.raises(UserError, match=r"no such class$"):
            build({"_target_": target}, "scheme", (), Scheme)
