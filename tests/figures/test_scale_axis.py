"""The scale axis: points are the rows, sizes are told apart from schemes, orders are compared."""

import numpy as np
import pandas as pd
import pytest

from extrap.figures import served
from extrap.results.series import select
from extrap.studies.reference.figures import scale_axis
from extrap.studies.tasks.figures import mqar_size
from tests.support.plausible import run_rows, sized_rows
from tests.support.plausible_costs import chain_rows


@pytest.fixture(scope="module")
def study(frame):
    return frame(sized_rows())


def test_schemes_differ_less_than_sizes():
    params = pd.Series([172_864, 176_960, 205_632, 936_832, 940_000, 4_234_240])
    found = scale_axis.sizes(params)
    assert found.tolist() == [172_864] * 3 + [936_832] * 2 + [4_234_240]


def test_one_size_is_no_axis(frame, study):
    assert served(scale_axis, study)
    assert not served(scale_axis, frame(run_rows("rope") + run_rows("alibi")))


def test_a_line_is_the_mean_over_all_seeds_at_four_times_the_length(study):
    figure = scale_axis.draw(study)
    panel = figure.axes[0]
    assert panel.get_ylabel() == "accuracy at 4x"
    (line,) = (line for line in panel.lines if line.get_label() == "rope")
    rows = select(study, task="kv", metric="accuracy", protocol="records", scheme="rope")
    rows = rows[rows["length"] == 256]
    np.testing.assert_allclose(line.get_ydata(), rows.groupby("params")["value"].mean())
    np.testing.assert_allclose(line.get_xdata(), [172_864, 936_832])


def test_the_order_in_each_size_is_compared_with_that_in_the_smallest(study):
    figure = scale_axis.draw(study)
    said = [text.get_text() for panel in figure.axes for text in panel.texts]
    assert any(words == "ρ = 0.50" for words in said)


def test_a_scheme_without_the_larger_models_is_named_as_it_is(study):
    """Not "(to 172864)", as a line that ends at a length is."""
    short = study[(study["scheme"] != "rope") | (study["params"] < 500_000)]
    said = [text.get_text() for panel in scale_axis.draw(short).axes for text in panel.texts]
    assert "rope" in said and not any(words.startswith("rope (") for words in said)


def test_a_control_is_no_second_run_of_its_scheme(frame, study):
    control = [
        row | {"data": "retrieval", "run": f"{row['run']}-c", "value": row["value"] + 3}
        for row in sized_rows()
    ]
    both = frame(sized_rows() + control)
    for needs in (scale_axis.NEEDS, scale_axis.LOSS):
        pd.testing.assert_frame_equal(
            scale_axis.points(both, needs), scale_axis.points(study, needs)
        )


def test_seeds_below_the_gate_count(frame):
    lost = [
        row | ({"status": "not trained"} if row["task"] == "kv" and row["seed"] == 1 else {})
        for row in sized_rows()
    ]
    found = scale_axis.points(frame(lost), scale_axis.NEEDS)
    assert set(found["seed"]) == {0, 1, 2}


def test_recall_is_one_line_of_a_scheme_hollow_where_no_seed_learned_it(frame):
    rows = list(chain_rows(("rope",)))
    lost = {"status": "not trained"}
    small = [row | (lost if row["params"] == 10_000 else {}) for row in rows]
    few, many = mqar_size.draw(frame(small)).axes
    assert [few.get_title(), many.get_title()] == ["2 records", "8 records"]
    drawn = {line.get_label(): line.get_xydata().tolist() for line in many.lines}
    assert drawn["rope"] == [[10_000, pytest.approx(0.6)], [40_000, pytest.approx(0.9)]]
    assert [x for x, _ in drawn["_below the gate"]] == [10_000]
    assert not served(mqar_size, frame([row for row in rows if row["params"] != 10_000]))
