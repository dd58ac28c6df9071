"""Figures that follow from formulas: their data against values computed elsewhere in double
precision, the same bytes when redrawn.
"""

from math import log

import matplotlib.style
import numpy as np
import pytest
from matplotlib.text import Text

from extrap import figures
from extrap.cli import plot
from extrap.figures.drawing.style import RC
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures import (
    alibi_bias,
    interpolation_bound,
    rope_base,
    rope_decay,
    rope_scores,
    t5_buckets,
)

ALL = figures.available(formulas=True)


def test_alibi_is_minus_slope_times_distance():
    bias = alibi_bias.data()
    assert bias[0, 15, 0] == -15 / 2 and bias[7, 15, 0] == -15 / 256
    assert np.isnan(bias[0, 3, 4]) and bias[0, 3, 3] == 0


def test_t5_buckets():
    buckets = t5_buckets.data()
    known = {0: 0, 15: 15, 16: 16, 20: 17, 31: 21, 63: 26, 64: 26, 100: 30, 112: 30, 113: 31}
    assert {n: int(buckets[n]) for n in known} == known


def test_the_decay_bound_is_that_of_a_double_loop():
    assert rope_decay.data(128, 1e4)[0] == 32.5
    theta, n = frequencies(16, 1e3).numpy(), 7
    total = sum(abs(sum(np.exp(1j * n * t) for t in theta[:j])) for j in range(1, 9))
    assert rope_decay.data(16, 1e3, 8)[7] == pytest.approx(total / 8)


def test_scores_fall_for_equal_vectors_and_not_for_gaussian_ones():
    found = rope_scores.data()
    theta = frequencies(128).numpy()
    np.testing.assert_allclose(
        found["ones"][[0, 1, 500]], [2 * np.cos(n * theta).sum() for n in (0, 1, 500)]
    )
    assert found["ones"][0] == 128 and found["ones"][500:].mean() < 40
    spread = found["gaussian"].std(0)
    assert spread[:100].mean() == pytest.approx(128**0.5, rel=0.1) and spread[
        -100:
    ].mean() == pytest.approx(128**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("width", "base", "first"),
    [(32, 1e4, 474), (64, 1e4, 725), (128, 1e4, 1707), (128, 500, 171), (128, 1e6, 27115)],
)
def test_where_the_sum_of_cosines_falls_below_zero(width, base, first):
    assert rope_base.first_negative(width, base, 30_000) == first


def test_the_bound_on_extrapolated_scores():
    known = {0: 16.25, 1: 15.77, 100: 5.11, 1000: 2.24, 2000: 2.52, 4000: 2.52}
    found = interpolation_bound.data(128)
    assert [found[s] for s in known] == pytest.approx(list(known.values()), abs=0.01)
    assert found.min() > 1
    assert interpolation_bound.data(64)[4000] == pytest.approx(0.84, abs=0.01)
    assert 8 * log(1e4) * 4 == pytest.approx(294.73, abs=0.01)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ALL)
def test_no_text_is_unread_tex(name):
    r"""Log axes write $\mathdefault{10^2}$ by default, and text of figures is never TeX."""
    with matplotlib.style.context(RC, after_reset=True):
        figure = ALL[name].draw()
        figure.draw_without_rendering()
        words = [text.get_text() for text in figure.findobj(Text)]
    assert words and not [text for text in words if "$" in text]


def test_the_command_draws_what_is_named(tmp_path, capsys):
    plot.main(["--analytic", "t5_buckets", "--results", str(tmp_path)])
    folder = tmp_path / "analytic" / "figures"
    assert capsys.readouterr().out.split() == [
        str(folder / "t5_buckets.svg"),
        str(folder / "t5_buckets.png"),
    ]
    plot.main(["--analytic", "--list"])
    assert len(capsys.readouterr().out.splitlines()) == len(ALL)
