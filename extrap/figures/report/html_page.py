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

from extrap.figures.drawing.palette import COLOURS
from extrap.figures.drawing.style import CONDITIONS, EXTENDED, style_of, styled
from extrap.figures.report import sections
from extrap.figures.report.chart import chart, mark, symbols
from extrap.figures.report.leaderboard import leaderboard
from extrap.figures.report.pictures import pictures
from extrap.figures.report.views import View, views
from extrap.results.findings.verdict import Finding
from extrap.results.rows import KEY
from extrap.results.series import Series, sizes, whole

LARGEST = 2_000_000
"""Bytes that a page stays below."""
NAMES = {value: name for name, value in COLOURS.items()}
LINES = [*CONDITIONS, EXTENDED]
"""Lines of figures in the order of `chart.DASHES`."""
FILTERS = {
    "scheme": ("Scheme", ""),
    "size": ("Size", " parameters"),
    "trained": ("Training length", " tokens"),
}
"""By trait of a series: the title of its chooser, and the unit of its values."""


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
        commands: what makes the study; by default the commands that its rows tell.
        verdict: a section in HTML about one series, before the leaderboard.
        notes: sentences about the runs, such as the options by which two of a name differ.
        costs: the titles of a table of costs and its lines.
    Raises:
        UserError: for mixed corpora.
    """
    rows = rows.sort_values(list(KEY), kind="stable")
    all_series = whole(rows)
    shown = views(all_series)
    with styled(rows):
        drawn_as = [style_of(s) for s in all_series]
    # name of the colour, marker and line, as figures have them
    lines: list[object] = [*LINES]
    styles = [(NAMES[one.colour], one.marker, lines.index(one.line)) for one in drawn_as]
    names, traits = [s.label for s in all_series], _traits(all_series)
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
        "filters": _filters(traits),
        "leaderboard": board,
        "switches": _switches(all_series, styles, traits),
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
    return files("extrap.figures.report").joinpath(name).read_text(encoding="utf-8")


def _traits(found: Sequence[Series]) -> list[dict[str, str]]:
    """Returns what each series is filtered by: its scheme, its size and its training length."""
    smallest = sizes(found)
    traits = []
    for one in found:
        size = f"{smallest[one.label]:,}" if smallest[one.label] else ""
        length = f"{int(one.rows['train_length'].iloc[0])}"
        traits.append({"scheme": one.scheme, "size": size, "trained": length})
    return traits


def _filters(traits: Sequence[dict[str, str]]) -> str:
    """A chooser for each trait by which series differ, "" if they differ by none. The script shows
    it, and switches series on and off.
    """
    choosers = ""
    for trait, (title, unit) in FILTERS.items():
        values = {of[trait] for of in traits} - {""}
        if len(values) < 2:
            continue
        options = "".join(
            f'<option value="{escape(value)}">{escape(value)}{unit}</option>'
            for value in sorted(values, key=_in_order)
        )
        choosers += (
            f'<label>{title} <select data-filter="{trait}"><option value="">all</option>'
            f"{options}</select></label>"
        )
    if not choosers:
        return ""
    return (
        '<fieldset class="bar" data-script hidden><legend>Show series</legend>'
        f'{choosers}<span id="count" role="status"></span></fieldset>'
    )


def _in_order(value: str) -> tuple[int, str]:
    """Returns a key that sorts numbers by value, and words by letters."""
    number = value.replace(",", "")
    return (int(number) if number.isdigit() else 0, value)


def _switches(found: Sequence[Series], styles, traits: Sequence[dict[str, str]]) -> str:
    """A check box per series, with a sample of its colour and mark, and its traits."""
    boxes = []
    for i, (s, (colour, marker, _)) in enumerate(zip(found, styles, strict=True)):
        data = "".join(f' data-{name}="{escape(value)}"' for name, value in traits[i].items())
        box = f'<input type="checkbox" checked data-s="{i}"{data}>'
        sample = '<svg viewBox="-9 -6 18 12" width="18" height="12" aria-hidden="true">'
        sample += f'<path class="line" d="M-9,0H9"/><use href="#m{mark(marker)}"/></svg>'
        name = f"<span>{escape(s.label)}</span>"
        boxes.append(f'<label class="c-{colour}">{box}{sample}{name}</label>')
    return "".join(boxes)


def _chart(view: View, names, styles, lengths) -> str:
    where = "" if view.length is None else f" at {view.length} tokens"
    caption = escape(f"{view.score}{where}")
    return (
        f'<figure class="view" data-kind="{view.kind}" data-score="{escape(view.score)}" '
        f'data-length="{view.length or ""}">{chart(view, names, styles, lengths)}'
        f"<figcaption>{caption}, by {view.kind}</figcaption></figure>"
    )
