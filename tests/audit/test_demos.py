"""The demonstrations against published digits."""

from importlib import import_module

import pytest
import torch

from extrap.audit.subject import DEFAULT_SHAPE as SHAPE
from extrap.audit.subject import gpt
from extrap.schemes.learned import Learned
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.studies.audit.demos import __main__ as demos
from extrap.studies.audit.demos import addition, layouts, permutation, radix, relativity, rotation
from extrap.utils.errors import UserError


def test_the_relativity_table_and_its_two_signs():
    rows = relativity.data()
    assert [row[2] for row in rows] == [0, 0, 10, 10, 10, -10, -10, -10]
    at = {0: (-4.081900, -4.081900), 10: (-2.769302, -3.336345), -10: (-3.336345, -2.769302)}
    for _, _, distance, plain, both, other, same in rows:
        assert plain == pytest.approx(-4.081900, abs=1e-6)
        assert (both, other) == pytest.approx(at[distance], abs=1e-6)
        assert same == pytest.approx(both, abs=1e-8)


def test_rotations_keep_their_norm():
    digits = {2: [-2.234741690, 0.077003754, 2.919405353, 4.059196027], 0: [1, 2, 3, 4]}
    for m, expected in digits.items():
        torch.testing.assert_close(
            rotation.turned(m), torch.tensor(expected, dtype=torch.float64), atol=1e-9, rtol=0
        )
    assert "5.477226, 5.477226, 5.477226, 5.477226; of x: 5.477226" in rotation.show()


def test_layouts_are_equal_after_permutation():
    found = list(layouts.data().values())
    assert max(found[0], found[4]) < 1e-12 < 1e-2 < min(found[1:4])


def test_order_is_seen_through_the_mask_or_a_scheme():
    every, last = zip(*permutation.data().values(), strict=True)
    assert every[0] < 1e-14 < 1e-3 < min(every[1:])
    assert max(last[:2]) < 1e-14 < 1e-3 < min(last[2:])


def test_numbers_in_a_radix():
    assert {name: (n, found) for name, (_, n, found) in radix.ways().items()} == {
        "trained": (759, [7, 5, 9]),
        "extrapolation": (1749, [1, 7, 4, 9]),
        "interpolation": (874.5, [8, 7, 4.5]),
        "NTK": (1749, [10, 4, 7]),
    }
    assert radix.angles()["NTK"] == pytest.approx([1, 0.062996052, 0.003968503, 0.00025], abs=1e-9)
    for _, (beta, n, found) in radix.ways().items():
        assert sum(digit * beta**m for m, digit in enumerate(reversed(found))) == n


@pytest.mark.parametrize(
    "scheme, norm", [(Sinusoidal, "rms"), (Learned, "rms"), (Sinusoidal, "layer")]
)
@torch.no_grad()
def test_four_terms_make_the_logit(scheme, norm):
    """Against q and k of the whole normed input, biases included."""
    shape = SHAPE.__class__(SHAPE.dim, SHAPE.heads, SHAPE.layers, 32, SHAPE.vocab, norm)
    model = gpt(scheme(shape)).double()
    block, seen = model.blocks[0], []
    for p in (block.norm1.weight, block.qkv.bias, getattr(block.norm1, "bias", None)):
        if p is not None:
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(0)))
    model.embedding.register_forward_hook(lambda _, ids, __: seen.append(ids[0]))
    parts = addition.split(model)
    x = model.embedding(seen[0]) + addition.positions(model)
    q, k, _ = block.qkv(block.norm1(x)).unflatten(-1, (3, shape.heads, -1)).permute(2, 0, 3, 1, 4)
    torch.testing.assert_close(
        sum(parts.values()), q @ k.mT * model.scheme.scale, atol=1e-10, rtol=0
    )


def test_schemes_that_add_nothing_are_refused():
    with pytest.raises(UserError, match="RoPE does not only add"):
        addition.check(gpt(RoPE(SHAPE)).double(), "rope-0")


def test_demonstrations_are_listed_and_a_mistake_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [line.split()[0] for line in demos.main([]).splitlines()]
    assert names == ["addition", "layouts", "permutation", "radix", "relativity", "rotation"]
    for name in names:
        module = import_module(f"extrap.studies.audit.demos.{name}")
        assert f"Run: python results/audit/demos {name}" in module.__doc__
    with pytest.raises(UserError, match=r"^NAME=ropee: .*choose among addition, "):
        demos.main(["ropee"])
    with pytest.raises(UserError, match=r"^RUN=a: the demonstration radix"):
        demos.main(["radix", "a"])
    with pytest.raises(UserError, match="no trained run in runs"):
        demos.main(["addition", "a"])
