"""Sentences about results, written with the numbers that rows have today.

`results/<study>/numbers.yaml` holds the sentences that `extrap findings --write` puts into the
study's README, between `<!-- found -->` and `<!-- /found -->`, and likewise of other lists:

    common: {task: kv, metric: accuracy, protocol: records}
    found:
    - says: "**RoPE is lost.** At 4 L it finds {}, ALiBi {:%}."
      multiple: 4
      each: [{scheme: rope}, {scheme: alibi}]

Each pair of braces is one entry of `each`, joined with the other fields of the sentence and with
`common`: columns of rows and fields of a statement (extrap.results.findings.statement), and

take        effect (the default), low or high of its interval, exp: a perplexity, mde: the minimum
            detectable effect, params: parameters; least, greatest: of its seeds or units; beyond:
            how many of them lie beyond the bound
count       a column: how many of its values have a mean (`take: low, high`: a least, a greatest
            number) above or below a bound, or any rows at all. `take: share` is their share of
            all of its values, share_low and share_high are the ends of its exact interval
finding     the id of a statement: its effect. `{verdict}` writes its verdict; the name of a verdict
            in braces has to be the verdict
study       another study than the folder's

`{}` writes two decimals, `{:%}` per cent, any other format as Python has it. A number as a word
(`WORDS`) in braces has to be the number.

`running: true` marks a study that still runs: its statements have no verdicts on a page, and extrap
leaves out and counts the sentences without rows. In any other study, missing rows are a mistake.
"""

import re
from collections.abc import Callable
from pathlib import Path
from string import Formatter
from typing import Any, Literal

import numpy as np
import pandas as pd

from extrap.results.findings.statement import (
    FIELDS,
    SELECTED,
    Statement,
    check_fields,
    check_text,
    selection,
    statement,
)
from extrap.results.findings.statistics import NotMeasured, measured, selected
from extrap.results.findings.verdict import VERDICTS, Finding, diverged, judge
from extrap.results.rows import COLUMNS
from extrap.results.stats.intervals import exact_share
from extrap.results.stats.ranks import TIED
from extrap.utils import markdown
from extrap.utils.errors import UserError
from extrap.utils.hints import fits
from extrap.utils.untrusted import read_yaml

FILE = "numbers.yaml"
TAKES = {"effect": "effect", "low": "low", "high": "high", "exp": "effect", "mde": "detectable"}
COUNTED = {"low": "min", "high": "max"}
OF_EACH = ("least", "greatest", "beyond")
SHARES = ("share", "share_low", "share_high")
OWN = {"take", "count", "study", "finding"}
MODEL = {"study": str, "layers": int, "scheme": list[str]}
SHAPE = {"common": dict | None, "names": dict, "not_measured": list[str], "running": bool}
SHAPE |= {"models": list[dict], "recipes": str, "tuned": str}
ENTRY = {
    "take": str,
    "study": str,
    "finding": str,
    "count": Literal[tuple(sorted({*COLUMNS, *SELECTED}))],
}
ENTRY |= {"above": float, "below": float}
"""Kinds of the fields of a file, of a model of the leaderboard, and of a sentence."""
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

FORM = re.compile(r"[<>^]?[+ -]?0?\d?,?(\.\d{1,2})?[eEfFgGdn%]?")
"""Formats of Python that write a short number."""

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
    given = read(folder / FILE)
    common = given.get("common") or {}
    for name, entries in given.items():
        if name in SHAPE or f"<!-- /{name} -->" not in text:
            continue
        lines = []
        for one in entries:
            try:
                lines.append(_sentence(one, common, folder, rows, judged))
            except Missing:
                if not given.get("running"):
                    raise
        total = len(entries)
        waiting = total - len(lines)
        if waiting:
            of = f": {waiting} of {total} findings" if total > 1 else ""
            lines.append(f"Not measured yet{of}.")
        first = "**Answer:** " if name == "answer" else "- "
        text = markdown.between(text, name, "\n".join(first + line for line in lines))
    return text


def read(path: Path) -> dict[str, Any]:
    """Returns a numbers.yaml, {} without one. Raises UserError for a file of another shape."""
    if not path.is_file():
        return {}
    found = read_yaml(path)
    if not fits(found, dict) or not fits([*found], list[str]):
        raise UserError(path, problem="expected lists of sentences by name")
    check_fields(path, found, SHAPE)
    for name in found.keys() - SHAPE.keys():
        check_fields(path, found, {name: list[dict]})
        for entry in found[name]:
            _check_entry(path, entry)
    for one in found.get("models", ()):
        if {*one} != {*MODEL}:
            raise UserError(path, problem=f"models: expected {', '.join(MODEL)} of each")
        check_fields(path, one, MODEL)
    return found


def _check_entry(path: Path, entry: dict[str, Any]) -> None:
    if not {"says", "each"} <= {*entry}:
        raise UserError(path, problem="a sentence needs says and each")
    check_fields(path, entry, {"says": str})
    where = f"{path}: {entry['says'][:60]}"
    check_text(where, "says", entry["says"])
    check_fields(where, entry, {"each": list[dict]})
    for one in (entry, *entry["each"]):
        check_fields(where, one, ENTRY)


def _sentence(entry: Any, common: dict, folder: Path, rows: Rows, judged) -> str:
    says = entry["says"]
    where = f"{folder / FILE}: {entry['says'][:60]}"
    try:
        parts = [*Formatter().parse(says)]
    except ValueError as error:  # a brace without its other half
        raise UserError(where, problem=error) from None
    places = sum(name is not None for _, name, *_ in parts)
    if places != len(entry["each"]):
        raise UserError(where, problem=f"{places} places for {len(entry['each'])} of each")
    shared = {name: value for name, value in entry.items() if name not in ("says", "each")}
    own = common | shared
    each = iter(entry["each"])
    out = ""
    for words, name, form, _ in parts:
        out += words
        if name is not None:
            out += _written(name, form or "", own | next(each), folder, rows, judged, where)
    return out


def _written(word: str, form: str, entry: dict, folder: Path, rows: Rows, judged, where) -> str:
    check_fields(where, entry, ENTRY)
    study = entry.get("study", folder.name)
    finding = judged(study, entry["finding"]) if "finding" in entry else None
    if finding and word == "verdict" and finding.verdict != "not measured":
        return finding.verdict
    if finding and word in VERDICTS:
        if finding.verdict != word:
            raise UserError(where, problem=f"{entry['finding']}: {finding.verdict}, not {word}")
        return word
    value = _taken(entry, finding, where) if finding else value_of(entry, rows(study), where)
    if word in WORDS:
        off = abs(value - WORDS.index(word))
        tolerance = 0.0 if "count" in entry else 0.05
        if off > tolerance:
            raise UserError(where, problem=f"{word} is {value:.3f}")
        return word
    return formatted(value, word or form, where)


def formatted(value: float, form: str, where: str) -> str:
    """Returns a number as text. Raises UserError for anything but a format of a short number."""
    if form == "%":
        return f"{100 * value:.0f} %"
    try:
        if not FORM.fullmatch(form):
            raise ValueError
        text = format(value, form or ".2f")
        return re.sub(r"^([+-]?)0\.", r"\1.", text)
    except ValueError:
        problem = f"{form:.60}: no format, and no word that has a number"
        raise UserError(where, problem=problem) from None


def value_of(entry: dict, rows: pd.DataFrame, where: str) -> float:
    fields = {name: entry[name] for name in FIELDS & {*entry}}
    selecting = {name: entry[name] for name in {*entry} - FIELDS - OWN}
    columns = selection(where, selecting)
    take = entry.get("take", "effect")
    if take == "params":
        size = selected(rows, columns)["size"]
        return _known(float(size.max()), entry, "no rows", where)
    if "count" in entry:
        groups = selected(rows, columns).groupby(entry["count"])
        values = groups["value"].agg(COUNTED.get(take, "mean")).round(TIED)
        above = fields.get("above", -np.inf)
        below = fields.get("below", np.inf)
        within = (values >= above) & (values < below)
        number = int(within.sum())
        n = len(values)
        if take not in SHARES:
            return float(number)
        share = number / n if n else np.nan
        _known(share, entry, "no rows", where)
        shares = (share, *exact_share(number, n))
        return dict(zip(SHARES, shares, strict=True))[take]
    plain: dict[str, Any] = {"id": FILE, "says": "-", "source": "-", "rows": columns}
    if not {"above", "below"} & {*fields}:
        plain["above"] = 0
    made = statement(Path(where), 0, plain | fields, {})
    if take in OF_EACH:
        return _of_each(take, made, rows, where)
    return _taken(entry, judge(made, rows), where)


def _of_each(take: str, made: Statement, rows: pd.DataFrame, where: str) -> float:
    """Returns the least or the greatest number of the seeds or units, or how many are beyond."""
    try:
        values = measured(made, rows).value
    except NotMeasured as reason:
        raise Missing(where, problem=reason) from None
    if ended := diverged(made, rows):
        raise Missing(where, problem=f"{', '.join(ended)} diverged in training")
    if take == "beyond":
        above = values > made.threshold
        below = values < made.threshold
        beyond = above if made.direction == "above" else below
        return float(beyond.sum())
    extreme = values.min() if take == "least" else values.max()
    return float(extreme.round(TIED))


def _taken(entry: dict, finding: Finding, where: str) -> float:
    take = entry.get("take", "effect")
    if take not in TAKES:
        raise UserError(where, problem=f"take={take}: one of {', '.join(TAKES)}")
    taken = getattr(finding, TAKES[take])
    value = _known(taken, entry, finding.reason, where)
    if take == "exp":
        return float(np.exp(value))
    return float(value)


def _known(value: float, entry: dict, reason: str, where: str) -> float:
    if np.isnan(value):
        raise Missing(where, problem=f"{entry}: {reason or 'no number'}")
    return value
