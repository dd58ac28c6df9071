"""The scale axis: points are the rows, sizes are told apart from schemes, orders are compared."""

import pandas as pd
import pytest

from extrap.figures import served
from extrap.studies.reference.figures import scale_axis
from tests.support.plausible import run_rows, sized_rows


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
