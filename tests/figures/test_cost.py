"""The figure of what schemes cost."""

import pytest

from extrap.figures import speed
from tests.support.plausible import L
from tests.support.plausible_costs import speed_rows


def test_bars_are_thousand_tokens_a_second(frame):
    rows = frame(speed_rows(("rope", "learned")))
    figure = speed.draw(rows)
    assert [panel.get_title(loc="left") for panel in figure.axes[::3]] == [
        f"windows of {L} tokens",
        f"windows of {4 * L} tokens",
    ]
    training, reading, memory = (
        {p.get_label(): p[0].get_width() for p in panel.containers} for panel in figure.axes[:3]
    )
    assert training == pytest.approx({"rope": 1e3 / L, "learned": 5e2 / L})
    assert reading == pytest.approx({"rope": 4e3 / L, "learned": 2e3 / L}) and memory == {
        "rope": 13,
        "learned": 26,
    }
    repeats = sorted(list(line.get_xdata()) for line in figure.axes[0].lines)
    assert repeats == [
        pytest.approx([0.9 * value, 1.2 * value]) for value in sorted(training.values())
    ]
    assert len(figure.axes[3].containers) == 1, "a length past a table has no bar"


def test_bars_of_several_seeds_are_their_means(frame):
    panel = speed.draw(frame(speed_rows(("rope",), (0, 2)))).axes[0]
    assert (
        panel.containers[0][0].get_width() == pytest.approx((1e6 / L + 1) / 1000)
        and not panel.lines
    )
