"""Charts of a report: their numbers, colours and marks."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from extrap.figures.drawing.palette import COLOURS, chosen, colour_and_marker
from extrap.figures.report import html_page, views
from extrap.figures.report.chart import DASHES, MARKS, mark
from extrap.figures.report.text import number
from extrap.results.series import select, spread, whole
from tests.support.plausible import run_rows
from tests.support.tags import Tags

HERE = Path(html_page.__file__).parent


def test_every_curve_is_what_spread_says_of_its_series(study):
    found = whole(study)
    shown = views.views(found)
    assert {view.score for view in shown} >= {
        "retrieval accuracy (records)",
        "text perplexity (sliding window)",
    }
    view = next(v for v in shown if (v.kind, v.protocol, v.length) == ("depth", "records", 256))
    for index, points in view.points.groupby("series"):
        part = select(found[index].rows, task="kv", metric="accuracy", protocol="records")
        told = spread(part[(part["length"] == 256) & part["depth"].notna()], "depth")
        numbers = points[["x", "value", "low", "high"]]
        np.testing.assert_allclose(numbers, told.reset_index().to_numpy(float))


def test_losses_are_shown_as_perplexity_and_points_say_what_they_are(study, text):
    mean = select(study, task="nll", protocol="sliding", scheme="alibi", length=256)
    mean = mean.loc[mean["metric"] == "nll", "value"].mean()
    titles = "".join(Tags(text).inside["title"])
    assert re.search(rf"alibi · 256 tokens · {number(np.exp(mean))} \[.+?\] · 3 seeds", titles)


def test_a_control_has_no_say_about_what_it_never_saw(frame):
    some = frame(run_rows("rope") + run_rows("rope", data="text"))
    found = whole(some)
    for view in views.views(found):
        data = {found[i].data for i in view.points["series"]}
        assert data == ({"mixture", "text"} if view.loss else {"mixture"})


def test_a_scheme_without_a_colour_has_on_the_page_the_one_of_the_figures(frame):
    rows = frame(run_rows("rope") + [row | {"scheme": "ours"} for row in run_rows("alibi")])
    with chosen(rows):
        colour, marker = colour_and_marker("ours")
    assert colour != colour_and_marker("ours")[0]
    page = html_page.page(rows, images=False)
    (box,) = re.findall(r'<label class="c-(\w+)">(?:(?!</label>).)*<span>ours</span>', page)
    assert COLOURS[box] == colour and f'href="#m{mark(marker)}"' in page


def test_two_extensions_of_a_scheme_look_otherwise_on_the_page(frame):
    both = [run_rows("rope", extension=name, factor=4) for name in ("ntk", "yarn")]
    page = html_page.page(frame([*both[0], *both[1]]), images=False)
    boxes = re.findall(r'<label class="c-(\w+)">.*?href="#m(\d+)".*?<span>rope', page)
    assert len(boxes) == len({*boxes}) == 2
    assert page.count(f'stroke-dasharray="{DASHES[-1]}"') >= 2


def contrast(one: str, other: str) -> float:
    """Of two colours, by WCAG 2."""

    def light(colour: str) -> float:
        channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                    for c in to_rgb(colour)]  # fmt: skip
        return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def variables(dark: bool) -> dict[str, str]:
    light, night = (HERE / "style.css").read_text().split("@media (prefers-color-scheme: dark)")
    return dict(re.findall(r"--(\w+): (#\w+)", night.split("* {")[0] if dark else light))


@pytest.mark.parametrize("dark", [False, True])
def test_lines_and_words_stand_out_by_day_and_by_night(dark):
    colours = variables(dark)
    assert set(COLOURS) <= set(colours)
    assert all(contrast(colours[name], colours["back"]) >= 3 for name in COLOURS)
    for words in ("ink", "quiet", "accent"):
        assert contrast(colours[words], colours["back"]) >= 4.5
        assert contrast(colours[words], colours["box"]) >= 4.5


def test_by_day_colours_are_those_of_the_figures():
    colours = variables(dark=False)
    assert {name: colours[name] for name in COLOURS} == COLOURS


def test_every_marker_of_a_figure_has_a_mark():
    from extrap.figures.drawing.palette import MARKERS

    assert all(0 <= mark(marker) < len(MARKS) for marker in MARKERS)
