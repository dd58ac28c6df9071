"""Sentences about results, written with the numbers that rows have today.

`results/<study>/numbers.yaml` holds the sentences that `extrap findings --write` puts into the
study's README, between `<!-- found -->` and `<!-- /found -->`, and likewise of other lists:

    common: {task: kv, metric: accuracy, protocol: records}
    found:
    - says: "**RoPE is lost.** At 4 L it finds {}, ALiBi {three quarters}."
      multiple: 4
      each: [{scheme: rope}, {scheme: alibi}, ...]

Each pair of braces is one entry of `each`, narrowed by what stands beside `says` and by `common`:
columns of rows and fields of a statement (extrap.results.findings.statement), and

take        effect (left out), low or high of its interval, exp: a perplexity, params: parameters
count       a column: how many of its values have a mean (`take: low, high`: a least, a greatest
            number) above or below a bound, or any rows at all
finding     the id of a statement: its effect; its verdict where the braces hold one, which it then
            has to be, or `{verdict}`, which writes the one of today
study       another study than the folder's

`{}` writes two decimals, `{:%}` per cent, any other format as Python has it; words in braces
(`WORDS`) stay where the number lies within a tenth of them or .05, a count where it is that, else
writing them is a mistake. A sentence names every scheme and extension that its entries select. The
rest of a page holds no measured number: `unheld` finds decimals, per cents, shares and fractions.

`running: true` marks a study that still runs: a sentence without its rows is left out and counted.
Without it, missing rows are a mistake.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.findings.statement import FIELDS, parsed, statement
from extrap.results.findings.statistics import selected
from extrap.results.findings.verdict import VERDICTS, Finding, judge
from extrap.utils import markdown
from extrap.utils.errors import UserError

FILE = "numbers.yaml"
TAKES = {"effect": "effect", "low": "low", "high": "high", "exp": "effect"}
COUNTED = {"low": "min", "high": "max"}
OWN = {"take", "count", "study", "finding"}
NO_LISTS = ("common", "names", "not_measured", "running")
WORDS = {
    "none": 0, "a tenth": 0.1, "a quarter": 0.25, "a third": 1 / 3, "half": 0.5,
    "two thirds": 2 / 3, "three quarters": 0.75, "nine tenths": 0.9,
    "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
}  # fmt: skip
MEASURED = re.compile(
    r"(?<![\w.])[+-]?\d*\.\d+|\b\d+ of \d+\b|\b\d+ ?%|\bhalf (?:of|as)\b"
    r"|\ba (?:third|quarter|tenth) (?:of|as)\b|\b(?:two|three|nine) (?:third|quarter|tenth)s\b"
)
NO_PROSE = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+|\b\d{4}\.\d{5}\b|<!-- (\w+) -->.*?<!-- /\1 -->",
    re.DOTALL,
)
"""Code, addresses, papers, generated parts."""

Rows = Callable[[str], pd.DataFrame]


class Missing(UserError):
    """The error about a sentence whose rows are not there."""


def filled(text: str, folder: Path, rows: Rows, judged: Callable[[str, str], Finding]) -> str:
    """Returns a page with its generated sentences as rows have them today.

    Args:
        folder: of the page's numbers.yaml; without one the text stays.
        rows: of a study by name, as `verdict.table` leaves them.
        judged: the Finding of a study and a statement's id.
    Raises:
        UserError: for an entry that does not fit, and for a word that is far from its number.
    """
    given = parsed(folder / FILE) if (folder / FILE).is_file() else {}
    for name, entries in given.items():
        if name in NO_LISTS or f"<!-- /{name} -->" not in text:
            continue
        lines = []
        for one in entries:
            try:
                lines.append(_sentence(one, given.get("common", {}), folder, rows, judged))
            except Missing:
                if not given.get("running"):
                    raise
        if waiting := len(entries) - len(lines):
            of = f": {waiting} of {len(entries)} findings" * (len(entries) > 1)
            lines.append(f"Not measured yet{of}.")
        first = "**Answer:** " if name == "answer" else "- "
        text = markdown.between(text, name, "\n".join(first + line for line in lines))
    return text


def unheld(text: str, folder: Path) -> list[str]:
    """Returns measured numbers of a page that no row holds, each with the words before it."""
    given = parsed(folder / FILE) if (folder / FILE).is_file() else {}
    for allowed in given.get("not_measured", []):
        text = text.replace(allowed, "")
    text = NO_PROSE.sub(" ", text)
    return [text[max(0, m.start() - 40) : m.end()] for m in MEASURED.finditer(text)]


def _sentence(entry: Any, common: dict, folder: Path, rows: Rows, judged) -> str:
    if not isinstance(entry, dict) or not {"says", "each"} <= {*entry}:
        raise UserError(folder / FILE, problem="a sentence needs says and each")
    says, where = entry["says"], f"{folder / FILE}: {entry['says'][:60]}"
    places = re.findall(r"\{([^{}]*)\}", says)
    if len(places) != len(entry["each"]):
        raise UserError(where, problem=f"{len(places)} places for {len(entry['each'])} of each")
    if MEASURED.search(re.sub(r"\{[^{}]*\}", "", says)):
        raise UserError(where, problem="holds a number outside braces")
    own = {name: value for name, value in entry.items() if name not in ("says", "each")}
    written = iter([
        _written(place, common | own | one, folder, rows, judged, where)
        for place, one in zip(places, entry["each"], strict=True)
    ])  # fmt: skip
    terms = [term for one in entry["each"] for term in one.get("terms", [])]
    for one in [own, *entry["each"], *terms]:
        for name in (one.get(column, "direct") for column in ("scheme", "extension")):
            known = isinstance(name, list) or name == "direct"
            if not known and _plain(name.partition(",")[0])[:8] not in _plain(says):
                raise UserError(where, problem=f"does not name {name}, which it reads")
    return re.sub(r"\{[^{}]*\}", lambda _: next(written), says)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _written(place: str, entry: dict, folder: Path, rows: Rows, judged, where: str) -> str:
    study = entry.get("study", folder.name)
    finding = judged(study, entry["finding"]) if "finding" in entry else None
    if finding and place == "verdict" and finding.verdict != "not measured":
        return finding.verdict
    if finding and place in VERDICTS:
        if finding.verdict != place:
            raise UserError(where, problem=f"{entry['finding']}: {finding.verdict}, not {place}")
        return place
    value = _taken(entry, finding, where) if finding else _value(entry, rows(study), where)
    if place in WORDS:
        near = 0 if "count" in entry else max(0.05, 0.1 * WORDS[place])
        if abs(value - WORDS[place]) > near:
            raise UserError(where, problem=f"{place} is {value:.3f}")
        return place
    if place == ":%":
        return f"{100 * value:.0f} %"
    try:
        return re.sub(r"^([+-]?)0\.", r"\1.", format(value, place[1:] or ".2f"))
    except ValueError:
        problem = f"{place}: no format, and no word that has a number"
        raise UserError(where, problem=problem) from None


def _value(entry: dict, rows: pd.DataFrame, where: str) -> float:
    fields = {name: entry[name] for name in FIELDS & {*entry}}
    columns = {name: entry[name] for name in {*entry} - FIELDS - OWN}
    take = entry.get("take", "effect")
    if take == "params":
        return _known(float(selected(rows, columns)["size"].max()), entry, "no rows", where)
    if "count" in entry:
        kept = selected(rows, columns).groupby(entry["count"])["value"]
        values = kept.agg(COUNTED.get(take, "mean"))
        above, below = fields.get("above", -np.inf), fields.get("below", np.inf)
        return float(((values >= above) & (values < below)).sum())
    plain = {"id": FILE, "says": "-", "source": "-", "above": 0, "rows": columns} | fields
    return _taken(entry, judge(statement(Path(where), 0, plain, {}), rows), where)


def _taken(entry: dict, finding: Finding, where: str) -> float:
    take = entry.get("take", "effect")
    if take not in TAKES:
        raise UserError(where, problem=f"take={take}: one of {', '.join(TAKES)}")
    value = _known(getattr(finding, TAKES[take]), entry, finding.reason, where)
    return float(np.exp(value)) if take == "exp" else float(value)


def _known(value: float, entry: dict, reason: str, where: str) -> float:
    if np.isnan(value):
        raise Missing(where, problem=f"{entry}: {reason or 'no number'}")
    return value
