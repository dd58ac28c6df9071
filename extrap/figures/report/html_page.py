"""The page of a study: one HTML text that stands by itself, a pure function of rows and findings.

It loads nothing: style, script and pictures are in it, and a policy in its head forbids the rest.
Without a script it shows every view; the script chooses, switches, sorts and answers to the
pointer. Names and labels come from rows and are escaped wherever they are put in.
"""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

import pandas as pd

from extrap.figures.drawing.palette import COLOURS, colour_and_marker
from extrap.figures.report import sections
from extrap.figures.report.chart import chart, mark, symbols
from extrap.figures.report.leaderboard import leaderboard
from extrap.figures.report.pictures import pictures
from extrap.figures.report.views import View, views
from extrap.results.findings.verdict import Finding
from extrap.results.rows import KEY
from extrap.results.series import Series, whole

LARGEST = 2_000_000
"""Bytes that a page stays below."""
NAMES = {value: name for name, value in COLOURS.items()}


def page(
    rows: pd.DataFrame,
    found: Sequence[Finding] = (),
    images: bool = True,
    plugins: Sequence[str] = (),
    commands: Sequence[str] = (),
    verdict: str = "",
    notes: Sequence[str] = (),
    costs: Sequence[Sequence[str]] = (),
) -> str:
    """The page as text, less than LARGEST bytes where charts and tables leave room for figures.

    Args:
        rows: of one study.
        found: verdicts on its statements.
        images: whether figures are drawn into it.
        plugins: packages with figures of their own.
        commands: those that make the study, by default what its rows tell.
        verdict: a section in HTML about one series, before the leaderboard.
        notes: sentences about the runs, such as the options by which two of a name differ.
        costs: the titles of a table of costs and its lines.
    Raises:
        UserError: for mixed corpora.
    """
    rows = rows.sort_values(list(KEY), kind="stable")
    all_series = whole(rows)
    shown = views(all_series)
    # name of the colour, marker and condition, as figures have them
    drawn_as = [(*colour_and_marker(s.scheme), s.condition) for s in all_series]
    styles = [(NAMES[colour], *more) for colour, *more in drawn_as]
    names = [s.label for s in all_series]
    lead, board = leaderboard(shown, all_series)
    lengths = sorted(int(n) for n in rows["train_length"].unique())
    parts = {
        "title": escape(", ".join(sorted(set(rows["study"])))),
        "style": _file("style.css"),
        "script": _file("script.js"),
        "symbols": symbols(),
        "overview": sections.overview(rows, commands, notes),
        "lead": lead,
        "verdict": verdict,
        "leaderboard": board,
        "switches": _switches(all_series, styles),
        "charts": "".join(_chart(view, names, styles, lengths) for view in shown),
        "findings": sections.findings(found),
        "failures": sections.failures(rows),
        "configuration": sections.configuration(rows) + sections.costs(costs),
    }
    template = Template(_file("template.html"))
    bare = template.substitute(parts, figures="")
    room = LARGEST - len(bare.encode()) - 10_000
    drawn = pictures(rows, room, plugins) if images else "<p>Figures were left out.</p>"
    return template.substitute(parts, figures=drawn)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _switches(found: Sequence[Series], styles) -> str:
    """A check box per series, with a sample of its colour and mark."""
    boxes = [
        f'<label class="c-{colour}"><input type="checkbox" checked data-s="{i}">'
        f'<svg viewBox="-9 -6 18 12" width="18" height="12" aria-hidden="true">'
        f'<path class="line" d="M-9,0H9"/><use href="#m{mark(marker)}"/></svg>'
        f"<span>{escape(s.label)}</span></label>"
        for i, (s, (colour, marker, _)) in enumerate(zip(found, styles, strict=True))
    ]
    return "".join(boxes)


def _chart(view: View, names, styles, lengths) -> str:
    where = "" if view.length is None else f" at {view.length} tokens"
    caption = escape(f"{view.score}{where}")
    return (
        f'<figure class="view" data-kind="{view.kind}" data-score="{escape(view.score)}" '
        f'data-length="{view.length or ""}">{chart(view, names, styles, lengths)}'
        f"<figcaption>{caption}, by {view.kind}</figcaption></figure>"
    )
