"""Figures of rows that nobody can place: a picture, no picture, or one line."""

import pytest

from extrap import figures
from extrap.figures.drawing.layout import panels
from extrap.results.rows import KEY, with_multiple
from extrap.utils.errors import UserError

ALL = figures.available()
UNKNOWN = ["protocol", "metric", "extension", "run"]
WORDS = "rows: figure {} finds no picture in them ("


def renamed(rows, column):
    """Returns rows with one unknown word in a column, each at coordinates of its own."""
    found = rows.assign(**{column: "unknown"}).drop_duplicates([*KEY], ignore_index=True)
    return with_multiple(found)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", ALL)
def test_unknown_words_end_in_one_line(name, serving):
    known = serving(name)
    for column in UNKNOWN:
        try:
            drawn = figures.render(ALL[name], renamed(known, column), kinds=("svg",))
        except UserError:
            continue
        assert drawn is None or b"<svg" in drawn["svg"]


@pytest.mark.parametrize(
    ("name", "column"),
    [("kv_heatmap", "protocol"), ("training_curves", "metric"), ("who_learns", "extension")],
)
def test_a_figure_names_itself_where_it_finds_no_picture(name, column, serving):
    with pytest.raises(UserError, match="rows: ") as error:
        figures.render(ALL[name], renamed(serving(name), column), kinds=("svg",))
    assert WORDS.format(name) in str(error.value)


@pytest.mark.parametrize("grid", [(0, 2), (1, 0)])
def test_a_figure_without_panels_is_one_line(grid):
    with pytest.raises(UserError, match="none has a protocol, a metric or a series"):
        panels(grid, (2, 2))
