"""Committed figures: drawn again from committed rows, or from formulas, they are the same bytes.

SVG alone, which is most of the figure at a tenth of the time; both formats come from one drawing.
"""

import re
from pathlib import Path

import pytest

from extrap import figures
from extrap.cli import report
from extrap.results.places import has_rows, having, place
from extrap.results.rows import read

RESULTS = Path(__file__).parents[2] / "results"
PAGE, LEGIBLE = 7, 5
"""Inches of a page, and the least size of text on it, in points."""
TABLES = {"audit"}
"""Figures for a screen: a line for each scheme, a column for each property."""
STUDIES = [folder.name for folder in having(RESULTS, "figures/*.svg")]
DRAWN = [study for study in STUDIES if has_rows(place(RESULTS, study))]


def committed(study):
    return sorted((place(RESULTS, study) / "figures").glob("*.svg"))


def test_committed_figures_are_legible_on_a_page():
    small = {}
    for file in (file for study in STUDIES for file in committed(study) if file.stem not in TABLES):
        text = file.read_text()
        inches = float(re.search(r' width="([\d.]+)pt"', text)[1]) / 72
        least = min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", text))
        if least * min(1, PAGE / inches) < LEGIBLE - 1e-6:
            small[file.stem] = f"{least} pt at {inches:.1f} in"
    assert not small


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("study", DRAWN)
def test_figures_of_a_study_are_those_of_its_rows(study):
    rows = read(place(RESULTS, study))
    known = figures.available()

    def drawn(name):
        whole = figures.with_beside(known[name], rows, lambda other: read(place(RESULTS, other)))
        return figures.render(known[name], whole, kinds=("svg",))["svg"]

    changed = [file.stem for file in committed(study) if drawn(file.stem) != file.read_bytes()]
    assert not changed, f"draw them again with extrap plot {study} {' '.join(changed)}"


@pytest.mark.whole
@pytest.mark.parametrize("study", [folder.name for folder in having(RESULTS, "report.html")])
def test_the_page_of_a_study_is_that_of_its_rows(study):
    """Written again by `make report`."""
    assert report.text(RESULTS, [study]) == (place(RESULTS, study) / "report.html").read_text()


def test_figures_of_formulas_are_those_of_the_formulas():
    known = figures.available(formulas=True)
    files = committed("analytic")
    assert {file.stem for file in files} == set(known)
    changed = [
        file.stem
        for file in files
        if figures.image(known[file.stem].draw, kinds=("svg",))["svg"] != file.read_bytes()
    ]
    assert not changed, "draw them again with extrap plot --analytic"
