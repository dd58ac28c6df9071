"""The order of methods on a small model against that on a real one."""

import pandas as pd
import pytest

from extrap import figures
from extrap.figures import gap
from extrap.studies.pretrained.figures import toy_rank
from tests.support.plausible_extension import extension_rows, jumps


@pytest.fixture
def toy(frame):
    return frame([row | {"study": "extension"} for row in extension_rows()])


def test_another_scheme_of_the_small_models_is_not_averaged_in(frame, toy):
    other = [
        row | {"scheme": "alibi", "run": f"alibi-{i}", "value": 9.0}
        for i, row in enumerate(toy.to_dict("records"))
        if row["extension"] in ("direct", "pi")
    ]
    small = {"alone": toy, "mixed": pd.concat([toy, frame(other)], ignore_index=True)}
    alone, mixed = (
        toy_rank.draw(figures.with_beside(toy_rank, frame(jumps()), lambda study, of=of: small[of]))
        for of in small
    )
    for one, two in zip(alone.axes[0].lines, mixed.axes[0].lines, strict=True):
        assert one.get_xdata().tolist() == two.get_xdata().tolist()


def test_without_the_other_study_there_is_no_figure(frame):
    rows = frame(jumps())
    assert not figures.served(toy_rank, figures.with_beside(toy_rank, rows, lambda study: None))
    few = [row for row in jumps() if row["extension"] in ("direct", "pi")]
    both = frame(few + [row | {"study": "extension"} for row in extension_rows()])
    assert not figures.served(toy_rank, both)


def test_one_model_read_in_several_ways_has_a_colour_for_each(frame):
    some = [row for row in jumps() if row["extension"] in ("direct", "pi", "yarn", "rerope")]
    lines = gap.draw(frame(some)).axes[0].lines
    drawn = {line.get_label(): line.get_color() for line in lines if "+" in line.get_label()}
    assert len(drawn) == 3 and len(set(drawn.values())) == 3
