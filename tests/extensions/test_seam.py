"""The seam of extensions: copies that share nothing, parts replaced wherever they stand, spectra
changed on one object, rows of it.
"""

from copy import deepcopy

import pytest

from extrap.extensions.base import (
    replace_parts,
)
from extrap.extensions.bias_interpolation import BiasInterpolation
from extrap.extensions.ntk import NTK
from extrap.extensions.rerope import ReRoPE
from extrap.model.parts import parts
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import frequencies_used, pairs, respectrum, turns_pairs
from extrap.model.stack import Stack
from extrap.schemes.nope import NoPE
from extrap.schemes.rope import RoPE
from extrap.tasks.diagnosis.effective import frequency_rows
from tests.support.discover import scheme
from tests.support.extension_case import rope, row
from tests.support.scheme_case import around, close

SHAPE = Shape(dim=16, heads=2, layers=3, length=64, vocab=50)


def test_parts_are_replaced_in_stacks_and_layers():
    hwfa = scheme("hwfa", SHAPE)
    replaced = replace_parts(hwfa, turns_pairs, lambda part: NoPE(part.shape))
    assert [type(part).__name__ for part in parts(replaced)] == ["NoPE", "ReachWindow", "LogN"]
    assert replaced.parts[0].layers == {0, 1}
    with pytest.raises(ValueError):
        replace_parts(
            scheme("keynorm-rope", SHAPE), turns_pairs, lambda part: scheme("keynorm", SHAPE)
        )


def test_a_changed_spectrum_is_that_of_one_object_and_of_its_copies():
    a, b = rope(), rope()
    respectrum(a, lambda pairs, n: pairs.theta / n)
    close(a.spectrum(4), b.spectrum(4) / 4, 0)
    close(deepcopy(a).spectrum(8), b.spectrum(8) / 8, 0)
    respectrum(a, lambda pairs, n: pairs.theta * 2)
    close(a.spectrum(4), b.spectrum(4) / 2, 0)
    assert type(a) is RoPE and not a.state_dict()


def test_frequencies_in_force_where_nothing_turns_or_nothing_is_even():
    assert frequencies_used(scheme("alibi", SHAPE), 10) is None
    uneven = Stack(SHAPE, [Squared(SHAPE), RoPE(SHAPE)])
    assert frequencies_used(uneven, 10) is None


class Squared(Scheme):
    def positions(self, t):
        return t**2


def test_rows_of_what_is_in_force():
    model = around(RoPE(SHAPE))
    rows = frequency_rows(model.scheme, NTK(4.0)(model).scheme)
    assert {(r["protocol"], r["metric"], r["length"]) for r in rows} == {
        (p, m, 64) for p in ("trained", "used") for m in ("theta", "turns")
    }
    theta = [r["value"] for r in rows if (r["protocol"], r["metric"]) == ("used", "theta")]
    close(row(*theta), NTK(4.0).theta(pairs(model.scheme), 4.0), 1e-15)


def test_rows_of_an_adaptive_factor_say_from_which_length():
    model = around(RoPE(SHAPE))
    rows = [
        r
        for r in frequency_rows(model.scheme, NTK(None)(model).scheme, doublings=2)
        if (r["protocol"], r["metric"]) == ("used", "turns")
    ]
    assert sorted({r["length"] for r in rows}) == [64, 128, 256]
    last = [r["value"] for r in rows if r["length"] == 256]
    close(row(*last), 256 * NTK().theta(pairs(model.scheme), 4.0) / 6.283185307179586, 1e-12)


def test_rows_of_a_bias_at_interpolated_distances():
    model = around(scheme("alibi", SHAPE))
    fixed, adaptive = (
        {
            (r["length"], r["head"], r["at"]): r["value"]
            for r in frequency_rows(model.scheme, BiasInterpolation(s)(model).scheme, doublings=2)
            if r["protocol"] == "used" and r["layer"] == 0
        }
        for s in (4.0, None)
    )
    assert {n for n, *_ in fixed} == {64} and fixed[64, 1, 128.0] == pytest.approx(-0.5 / 4)
    assert [adaptive[n, 1, 128.0] for n in (64, 128, 256)] == pytest.approx(
        [-0.5, -0.5 / 2, -0.5 / 4]
    )


def test_a_bias_under_a_map_of_distances_has_no_rows():
    """Under ReRoPE no distance is what it is for all pairs."""
    model = around(scheme("alibi", SHAPE))
    rows = frequency_rows(model.scheme, ReRoPE(width=16)(model).scheme, doublings=1)
    assert {r["protocol"] for r in rows} == {"trained"}
