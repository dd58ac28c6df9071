"""Committed figures: drawn again from committed rows, or from formulas, they are the same bytes.

SVG alone, which is most of the figure at a tenth of the time; both formats come from one drawing.
"""

from pathlib import Path

import pytest

from extrap import figures
from extrap.cli import report
from extrap.cli.plot import ANALYTIC
from extrap.results.rows import read

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = sorted({path.parents[1].name for path in RESULTS.glob("*/figures/*.svg")})
DRAWN = [study for study in STUDIES if (RESULTS / study / "rows").is_dir()]


def committed(study):
    return sorted((RESULTS / study / "figures").glob("*.svg"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("study", DRAWN)
def test_figures_of_a_study_are_those_of_its_rows(study):
    rows = read(RESULTS / study)
    known = figures.available()

    def drawn(name):
        whole = figures.with_beside(known[name], rows, lambda other: read(RESULTS / other))
        return figures.render(known[name], whole, kinds=("svg",))["svg"]

    changed = [file.stem for file in committed(study) if drawn(file.stem) != file.read_bytes()]
    assert not changed, f"draw them again with extrap-plot {study} {' '.join(changed)}"


@pytest.mark.whole
@pytest.mark.parametrize("study", [path.parent.name for path in RESULTS.glob("*/report.html")])
def test_the_page_of_a_study_is_that_of_its_rows(study):
    """Written again by `make report`."""
    assert report.text(RESULTS, study) == (RESULTS / study / "report.html").read_text()


def test_figures_of_formulas_are_those_of_the_formulas():
    known = figures.available(ANALYTIC)
    files = committed("analytic")
    assert {file.stem for file in files} == set(known)
    changed = [
        file.stem
        for file in files
        if figures.image(known[file.stem].draw, kinds=("svg",))["svg"] != file.read_bytes()
    ]
    assert not changed, "draw them again with extrap-plot --analytic"
