"""Figures that follow from formulas: their data against loops over the formula."""

import numpy as np
import pytest

from extrap import figures
from extrap.cli import plot
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures import rope_decay, rope_scores

ALL = figures.available(formulas=True)


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


def test_the_command_draws_what_is_named(tmp_path, capsys):
    plot.main(["--analytic", "t5_buckets", "--results", str(tmp_path)])
    folder = tmp_path / "analytic" / "figures"
    assert capsys.readouterr().out.split() == [
        str(folder / "t5_buckets.svg"),
        str(folder / "t5_buckets.png"),
    ]
    plot.main(["--analytic", "--list"])
    assert len(capsys.readouterr().out.splitlines()) == len(ALL)


def test_what_chooses_rows_is_refused_beside_formulas(tmp_path, capsys):
    for words in (["--series", "rope"], ["--lengths", "4"], ["--label", "rope=Ours"]):
        with pytest.raises(SystemExit, match="2"):
            plot.main(["--analytic", *words, "--results", str(tmp_path)])
        assert f"{words[0]}: chooses among the rows of a study" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
