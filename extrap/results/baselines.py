"""Rows of committed studies that travel with the package: yours is compared with them."""

from pathlib import Path

import pandas as pd

from extrap.results import rows as table
from extrap.results.comparison.cells import Scores, on_disk
from extrap.results.places import PACKED, place
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

INSTALLED = Path(__file__).parents[1] / "baselines"
"""Their place in an installed package."""
TORCH = "2.13.0"
"""The release of torch whose source is the text of these rows."""


def folder(study: str) -> Path:
    """Returns the folder of a study that travels with the package. Raises UserError if this
    installation has no rows of it.
    """
    results = Path(conf_dir()).parent / "results"
    cloned = place(results, study)
    for found in (INSTALLED / study, cloned):
        if (found / PACKED).is_file():
            return found
    remedy = "run in a clone of extrap's repository, which has the rows of every study"
    raise UserError("STUDY", study, "no rows of it travel with this package", remedy)


def rows(study: str) -> pd.DataFrame:
    """Returns the rows of a study that travels with the package, with the name of their sheet as
    `sheet`. Raises UserError as `folder`.
    """
    return table.read_with_sheets(folder(study))


def items(study: str) -> Scores:
    """Returns the scores of single documents and trials of such a study, as far as they travel."""
    return on_disk(folder(study))
