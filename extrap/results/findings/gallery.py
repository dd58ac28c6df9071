"""The gallery: classic figures of the literature and ours, judged by rows.

`results/gallery/figures.yaml` holds an entry for each figure or table:

    id, paper, arxiv, what      its name, where it stands and what it is
    claims                      what the paper says, with its numbers
    draw                        [study, figure]: ours, drawn by `extrap plot`
    command                     instead: the command that would draw it
    ours                        our sentence, with a place for each number of `each`
    common, each                the numbers: fields of extrap.results.findings.numbers; study: one,
                                or several where each of `terms` names its own
    expect                      rising or falling: their order; {above: x}, {below: x}: a bound of
                                all of them; with judged: n, of the first n alone
    by, why                     formula: a test holds our figure to the numbers of the paper; none:
                                our figure cannot show it, and why

A verdict is `same` if the numbers are as expected, else `opposite`; numbers alone decide.
"""

import re
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from extrap.results.findings import numbers
from extrap.results.places import place
from extrap.utils import markdown
from extrap.utils.errors import UserError
from extrap.utils.hints import fits
from extrap.utils.untrusted import read_yaml

HOME, FILE = "gallery", "figures.yaml"
SAME, OPPOSITE, SILENT = "same", "opposite", "cannot show"
TEXTS = ("id", "paper", "arxiv", "what", "claims", "ours")
HEAD = ("figure", "the paper", "ours", "verdict")
PLACE = re.compile(r"{[^{}]*}")
INTRODUCTION = """# The field's figures, beside ours

<!-- gallery -->
**Question:** which figures and tables that this literature is known by look the same on this
bench, which look the opposite, and which can it not show?

**Answer:** of {total} figures of {papers} papers, {same} are the same, {opposite} are the opposite,
{silent} this bench cannot show.

Numbers of papers are cited. Ours are computed from committed rows, and the verdict is what they say
of the order or the bound that the paper claims. Our models are small and read bytes: a verdict is
about the shape of a curve, not about its height. The order of means decides; intervals stand in the
figures and in the pages of the studies.

**Repeat:** `make study STUDY=gallery` (some five minutes of a core for the rows that other studies
lack), or one command of the table.
"""


class Shown(NamedTuple):
    """An entry with what rows say of it."""

    entry: dict[str, Any]
    sentence: str
    values: list[float]
    verdict: str

    @property
    def command(self) -> str:
        """The command that draws our figure."""
        study, figure = self.entry.get("draw", ("", ""))
        formula = study == "analytic"
        drawn = f"extrap plot --analytic {figure}" if formula else f"extrap plot {study} {figure}"
        return self.entry.get("command") or drawn


def entries(results: Path) -> list[dict[str, Any]]:
    """Returns the entries. Raises UserError for a file of another shape."""
    path = results / HOME / FILE
    found = read_yaml(path).get("figures")
    if not fits(found, list[dict]):
        raise UserError(path, problem="expected a list of figures")
    for one in found:
        for name in TEXTS:
            if not isinstance(one.get(name), str):
                raise UserError(path, problem=f"{one.get('id')}: {name} is missing")
        if ("by" in one) == ("expect" in one):
            raise UserError(path, problem=f"{one['id']}: either expect or by")
        by = one.get("by")
        known = by in (None, "formula", "none")
        explained = ("why" in one) == (by == "none")
        if not known or not explained:
            raise UserError(path, problem=f"{one['id']}: why belongs to by: none")
    return found


def gallery(results: Path, rows: numbers.Rows) -> list[Shown]:
    """Returns the entries with their numbers and verdicts of today's rows. rows: of a study by
    name, as `verdict.table` leaves them.
    """
    path = results / HOME / FILE
    return [shown(one, rows, f"{path}: {one['id']}") for one in entries(results)]


def shown(entry: dict[str, Any], rows: numbers.Rows, where: str) -> Shown:
    """Returns an entry with its numbers and its verdict.

    Raises UserError for numbers that the rows lack, and for places without a number.
    """
    values = []
    for one in entry.get("each", []):
        own = (entry.get("common") or {}) | one
        studies = own["study"] if isinstance(own["study"], list) else [own["study"]]
        read = pd.concat(map(rows, studies))
        values.append(numbers.value_of(own, read, where))
    forms = PLACE.findall(entry["ours"])
    if len(forms) != len(values):
        raise UserError(where, problem=f"{len(forms)} places for {len(values)} numbers")
    texts = iter(zip(forms, values, strict=True))
    written = partial(_written, texts, where)
    sentence = PLACE.sub(written, entry["ours"])
    verdict = _verdict(entry, values, where)
    return Shown(entry, sentence, values, verdict)


def _written(texts, where: str, found: re.Match[str]) -> str:
    braces, value = next(texts)
    form = braces[1:-1].removeprefix(":")
    return numbers.formatted(value, form, where)


def _verdict(entry: dict[str, Any], values: list[float], where: str) -> str:
    if "by" in entry:
        return {"formula": SAME, "none": SILENT}[entry["by"]]
    expect = entry["expect"]
    judged = values[: entry.get("judged", len(values))]
    if expect == "rising":
        as_said = all(a < b for a, b in pairwise(judged))
    elif expect == "falling":
        as_said = all(a > b for a, b in pairwise(judged))
    elif isinstance(expect, dict) and {*expect} == {"above"}:
        as_said = min(judged) > expect["above"]
    elif isinstance(expect, dict) and {*expect} == {"below"}:
        as_said = max(judged) < expect["below"]
    else:
        raise UserError(where, problem=f"expect={expect}: rising, falling, above or below")
    return SAME if as_said else OPPOSITE


def page(results: Path, rows: numbers.Rows) -> str:
    """Returns the page as Markdown; rows as in `gallery`."""
    found = gallery(results, rows)
    counts = Counter(one.verdict for one in found)
    papers = len({one.entry["arxiv"] for one in found})
    words = {"total": len(found), "papers": papers, "same": counts[SAME]}
    head = INTRODUCTION.format(**words, opposite=counts[OPPOSITE], silent=counts[SILENT])
    lines = [_line(results, one) for one in found]
    return f"{head}\n{markdown.table([HEAD, *lines])}\n<!-- /gallery -->\n"


def drawing(results: Path, entry: dict[str, Any]) -> Path | None:
    """Returns the file of our figure, None if an entry has none."""
    if "draw" not in entry:
        return None
    study, figure = entry["draw"]
    return place(results, study) / "figures" / f"{figure}.svg"


def _line(results: Path, one: Shown) -> tuple[str, ...]:
    entry = one.entry
    file = drawing(results, one.entry)
    at = entry["arxiv"]
    link = f"https://{at}" if "/" in at else f"https://arxiv.org/abs/{at}"
    ours = f"{one.sentence}. `{one.command}`"
    if file is not None:
        ours = f"[figure](../{file.relative_to(results)}): {ours}"
    verdict = f"**{one.verdict}**"
    if "why" in entry:
        verdict += f": {entry['why']}"
    name = f"[{entry['paper']}]({link}). {entry['what']}"
    return name, entry["claims"], ours, verdict
