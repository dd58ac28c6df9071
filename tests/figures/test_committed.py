"""Committed figures: drawn again from committed rows, or from formulas, they are the same bytes.

SVG alone, which is most of the figure at a tenth of the time; both formats come from one drawing.
"""

from pathlib import Path

import pytest

from extrap import figures
from extrap.cli import report
from extrap.results.places import having, place
from extrap.results.rows import read

RESULTS = Path(__file__).parents[2] / "results"
STUDIES = [folder.name for folder in having(RESULTS, "figures/*.svg")]
DRAWN = [study for study in STUDIES if (place(RESULTS, study) / "rows").is_dir()]


def committed(study):
    return sorted((place(RESULTS, study) / "figures").glob("*.svg"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("study", DRAWN)
def test_figures_of_a_study_are_those_of_its_rows(study):
    rows = read(place(RESULTS, study))
    known = figures.available()

    def drawn(name):
        whole = figures.with_beside(known[name], rows, lambda other: read(place(RESULTS, other)))
        return figures.render(known[name], whole, kinds=("svg",))["svg"]

    changed = [file.stem for file in committed(study) if drawn(file.stem) != file.read_bytes()]
    assert not changed, f"draw them again with extrap-plot {study} {' '.join(changed)}"


@pytest.mark.whole
@pytest.mark.parametrize("study", [folder.name for folder in having(RESULTS, "report.html")])
def test_the_page_of_a_study_is_that_of_its_rows(study):
    """Written again by `make report`."""
    assert report.text(RESULTS, study) == (place(RESULTS, study) / "report.html").read_text()


def test_figures_of_formulas_are_those_of_the_formulas():
    known = figures.available(formulas=True)
    files = committed("analytic")
    assert {file.stem for file in files} == set(known)
    changed = [
        file.stem
        for file in files
        if figures.image(known[file.stem].draw, kinds=("svg",))["svg"] != file.read_bytes()
    ]
    assert not changed, "draw them again with extrap-plot --analytic"
