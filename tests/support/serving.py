"""Rows that each figure can be drawn from."""

from pathlib import Path

import pandas as pd
import pytest

from extrap import figures
from extrap.results.rows import read
from tests.support.discover import PLUGINS
from tests.support.invented import chain_rows, inside_rows, speed_rows, suite_study
from tests.support.plausible import run_rows, sized_rows
from tests.support.plausible_extension import extension_rows, jumps
from tests.support.plausible_recipes import (
    band_rows,
    base_rows,
    dispute_rows,
    grid_rows,
    recipe_rows,
)

RESULTS = Path(__file__).parents[2] / "results"


def scored() -> pd.DataFrame:
    """Returns committed rows of scores of a few schemes, and the rows that the scores predict."""
    rows = pd.concat([read(RESULTS / study) for study in ("predictors", "zoo")], ignore_index=True)
    return rows[rows["scheme"].isin(["rope", "p-rope", "hope", "alibi"])]


@pytest.fixture(scope="module")
def small(frame):
    """A trained scheme, an untrained one and a control."""
    return frame(run_rows("rope") + run_rows("learned") + run_rows("rope", data="text"))


@pytest.fixture(scope="module")
def serving(frame, small):
    """name -> rows that a figure can be drawn from: the small study, or one that has what the
    figure compares.
    """
    known = figures.available(plugins=PLUGINS)
    studies = (
        small,
        frame(extension_rows()),
        frame(suite_study()),
        frame(inside_rows(("rope", "kerple-log"), ("mixture",))),
        frame(sized_rows()),
        frame([row | {"study": "extension"} for row in extension_rows()] + jumps()),
        frame(dispute_rows()),
        frame(grid_rows()),
        frame(band_rows()),
        frame(base_rows()),
        frame(recipe_rows()),
        frame([*speed_rows(), *chain_rows()]),
        scored(),
    )

    def of(name: str):
        served = (rows for rows in studies if figures.served(known[name], rows))
        rows = next(served, None)
        if rows is None and known[name].__name__.split(".")[0] in PLUGINS:
            pytest.skip(f"no invented rows with {figures.needed(known[name])}")
        return rows

    return of
