"""Rows that figures are drawn from, and the page of a study made of them."""

import pytest

from extrap.figures.report import html_page
from tests.support.plausible import study_rows
from tests.support.serving import serving, small  # noqa: F401  fixtures


@pytest.fixture(scope="package")
def study(frame):
    """Three seeds of three schemes, the last of which has a table."""
    return frame(study_rows(("rope", "alibi", "learned"), (0, 1, 2)))


@pytest.fixture(scope="package")
def text(study):
    """Its page, without pictures."""
    return html_page.page(study, images=False)
