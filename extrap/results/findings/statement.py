"""Statements about a study, declared in `results/<study>/findings.yaml` before its rows exist.

    declared: 2026-11-22            day of the declaration
    common: {data: mixture}         a selection that all statements share
    names: {...}                    anchors for YAML, read by nobody else
    statements:
    - id: rope-half-by-4x
      says: RoPE finds less than half at 4x.
      source: arXiv 2306.15595
      rows: {task: kv, metric: accuracy, protocol: records, scheme: rope, multiple: 4}
      terms: [{}]
      below: 0.5

A selection names columns of rows, each with a value or a list of them, all of which must be there
(of `factor`, any: a method that has none reads with 1); `multiple` is length over training length,
`params` one of small (below .6 M), middle and large (above 2 M), `size` their number; `study`
reads the rows of another study; `layers`, `heads`, `lr`, `steps`, `share`, `width`, `base` and
`recipe` come from a label that names them, as `rope_layers2_heads4_lr0.003` does, whose scheme is
then `rope`; `tuned` is 1 in the rows of a scheme's own recipe (extrap.results.tuned). `rows`
narrows `common`, a term narrows `rows`; `times` (1) is its weight. The other fields:

statistic   of each seed (extrap.results.findings.statistics); `terms` without one: their weighted
            sum
contrasts   a list of lists of terms, of which least and greatest are taken
over, of    the column whose values are compared, and the one of them that is ranked
unit        columns whose every combination is one reading, as a seed is else: recipes. Seeds are
            averaged first, and the interval is over units
above, below    the statement holds where the statistic lies above (below) this
across      mean (left out) or median: how seeds are put together; deviation: the mean distance of
            seeds from the median of their term, so that terms compare how far seeds spread
log         true: of the logarithm of each value, so that weights over log W give a power of W
learned     true: every run that is read passes the gates of its tasks, or nothing is decided.
            Left out: more than half of them do. false: no premise, as the statement is about
            learning itself
note        a remark made after the declaration
badly_put   why it does not say what was meant; the id of the better one that follows it
twin        the id of a statement that reads the same rows in the same way and is counted for both
"""

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from extrap.results.rows import COLUMNS, MULTIPLE
from extrap.utils.errors import UserError
from extrap.utils.hints import describe, fits
from extrap.utils.untrusted import read_yaml

FILE = "findings.yaml"
RECIPE = ("layers", "heads", "lr", "steps", "share", "width", "base", "recipe")
"""Options that a label can name."""
NOT_SELECTED = {"run", "value", "low", "high", "commit"}
SELECTED = {*COLUMNS, *RECIPE, "tuned", MULTIPLE, "size"} - NOT_SELECTED
MOST = 1000
"""Values of a list: files are data, and YAML can stand for more than it holds."""
SUM = "sum"
OF_TERMS = (SUM, "rank_correlation")
OF_CONTRASTS = ("least", "greatest")
OF_UNITS = ("concordance", "concordance_of_values", "share")
DEVIATION = "deviation"
ACROSS = ("mean", "median", DEVIATION)
OVER = ("spread", "lowest", "highest", "rank", "rank_correlation", *OF_UNITS)
LEARNING = (SUM, *OF_CONTRASTS, "lowest", "highest")
"""Statistics of gates that are gates themselves."""
STATISTICS = sorted({*OF_TERMS, *OF_CONTRASTS, *OVER})
REMARKS = ("note", "badly_put", "twin")
"""Fields that are no part of what was declared."""
TEXTS = ("id", "says", "source", *REMARKS)
HINTS: dict[str, Any] = dict.fromkeys((*TEXTS, "statistic", "over", "of", "across"), str)
HINTS |= dict.fromkeys(("learned", "log"), bool)
"""Kinds of the fields that are no selection and no number."""
FIELDS = {*HINTS, "rows", "terms", "contrasts", "unit", "above", "below"}
MARKUP = re.compile(r"<[A-Za-z/!?]")
"""What begins a tag or a comment in Markdown, where sentences are written."""

Selection = dict[str, Any]


@dataclass(frozen=True)
class Term:
    """Mean of the rows of a selection, and its weight."""

    rows: Selection
    times: float = 1.0


@dataclass(frozen=True)
class Statement:
    """One declared statement; `digest` covers all that was declared and no remark."""

    id: str
    says: str
    source: str
    rows: Selection
    contrasts: tuple[tuple[Term, ...], ...]
    direction: str
    threshold: float
    digest: str
    statistic: str = SUM
    over: str | None = None
    unit: tuple[str, ...] = ()
    of: str | None = None
    across: str = "mean"
    learned: bool | None = None
    log: bool = False
    note: str = ""
    badly_put: str = ""
    twin: str = ""

    @property
    def compares(self) -> bool:
        """Whether it subtracts readings, whose documents and trials are the same."""
        terms = chain.from_iterable(self.contrasts)
        return self.statistic == "spread" or any(term.times < 0 for term in terms)

    @property
    def learning(self) -> bool:
        """Whether it says of gates, each between 0 and 1, that seeds learn a task or do not."""
        terms = [self.rows | term.rows for term in chain.from_iterable(self.contrasts)]
        gates = all(rows.get("metric") == "gate" for rows in terms)
        plain = self.across == "mean" and not self.log and not self.unit
        return gates and plain and not self.compares and self.statistic in LEARNING

    @property
    def claim(self) -> str:
        """`> .5` or `< .5`."""
        return f"{'>' if self.direction == 'above' else '<'} {self.threshold:g}"


def parsed(path: Path) -> dict[str, Any]:
    """Reads a YAML file that is a mapping. Raises UserError for any other file."""
    found = read_yaml(path)
    return found if isinstance(found, dict) else {}


def read(study: Path) -> list[Statement]:
    """Returns the statements of a study's folder, in their order.

    Raises UserError for a missing or damaged file, naming the statement and the field.
    """
    path = study / FILE
    _need(path.is_file(), path, "holds no statements; declare statements before the study runs")
    given = parsed(path)
    entries = given.get("statements")
    _need(isinstance(entries, list), path, "statements: expected a list")
    common = given.get("common") or {}
    numbered = enumerate(entries or ())
    found = [statement(path, number, one, common) for number, one in numbered]
    ids = [one.id for one in found]
    for one in found:
        twice = f"id={one.id}: used twice; give each statement its own"
        _need(ids.count(one.id) == 1, path, twice)
        _need(one.twin in {"", *ids}, path, f"{one.id}: twin={one.twin}: no such statement")
    return found


def statement(path: Path, number: int, entry: Any, common: Selection) -> Statement:
    """Returns one entry of the list as a Statement. Raises UserError naming entry and field."""
    where = f"{path}: statement {number + 1}"
    fields = "expected a mapping with id, says, source, rows and above or below"
    _need(isinstance(entry, dict), where, f"{fields}, got {entry!r:.60}")
    where = f"{path}: {entry.get('id', f'statement {number + 1}')}"
    _check_kinds(where, entry)
    bounds = [name for name in ("above", "below") if name in entry]
    bounded = len(bounds) == 1 and _number(entry[bounds[0]])
    given = ", ".join(f"{name}={entry[name]!r:.60}" for name in bounds) or "none"
    _need(bounded, where, f"expected either above or below, with a number, got {given}")
    (direction,) = bounds
    _check_statistic(where, entry)
    rows = selection(where, common) | selection(where, entry.get("rows"))
    made: dict[str, Any] = {
        "rows": rows,
        "contrasts": _contrasts(where, entry),
        "direction": direction,
        "unit": tuple(entry.get("unit", [])),
        "threshold": float(entry[direction]),
        "digest": _digest(entry, rows),
    }
    same = {*Statement.__dataclass_fields__} & {*entry}
    written = {name: entry[name] for name in same}
    return Statement(**written | made)


def _check_kinds(where: str, entry: dict[str, Any]) -> None:
    """Checks each field by itself."""
    check_fields(where, entry, HINTS)
    for name in TEXTS:
        if name in REMARKS and name not in entry:
            continue
        text = entry.get(name, "")
        _need(bool(text.strip()), where, f"{name}: expected text, got {text!r:.60}")
        check_text(where, name, text)
    for name in sorted({*entry} - FIELDS, key=str):
        _need(False, where, f"{name}: no such field; there are {', '.join(sorted(FIELDS))}")


def _check_statistic(where: str, entry: dict[str, Any]) -> None:
    """Checks the statistic, and the fields that one statistic needs and another forbids."""
    statistic = entry.get("statistic", SUM)
    across = entry.get("across", "mean")
    unit = entry.get("unit", [])
    over = entry.get("over", "scheme")
    _need(
        statistic in STATISTICS,
        where,
        f"statistic={statistic}: choose one of {', '.join(STATISTICS)}",
    )
    columns = fits(unit, list[str]) and {*unit} <= SELECTED
    _need(columns, where, f"unit: expected a list of columns, got {unit!r:.60}")
    _need(bool(unit) or statistic not in OF_UNITS, where, f"unit: {statistic} needs some columns")
    wanted = (statistic in OVER) == ("over" in entry)
    wanted = wanted and over in {*COLUMNS, *RECIPE, "size"}
    words = f"over: expected a column, and only with {', '.join(OVER)}"
    _need(wanted, where, f"{words}, got {entry.get('over')!r:.60}")
    ranked = ("of" in entry) == (statistic == "rank")
    _need(ranked, where, "of: expected the value that is ranked, and only with rank")
    _need(across in ACROSS, where, f"across={across}: choose one of {', '.join(ACROSS)}")
    summed = across != DEVIATION or statistic == SUM
    _need(summed, where, f"across={across}: expected only with a sum")


def _digest(entry: dict[str, Any], rows: Selection) -> str:
    # `learned: false` takes a premise of the evaluator away and declares nothing
    undeclared = {*REMARKS} if entry.get("learned") else {*REMARKS, "learned"}
    declared = {name: value for name, value in entry.items() if name not in undeclared}
    declared["rows"] = rows
    plain = json.dumps(declared, sort_keys=True, default=str)
    digest = hashlib.sha256(plain.encode()).hexdigest()
    return digest[:16]


def _contrasts(where: str, entry: dict[str, Any]) -> tuple[tuple[Term, ...], ...]:
    statistic = entry.get("statistic", SUM)
    given = entry.get("contrasts", [entry.get("terms", [{}])])
    needed = ("contrasts" in entry) == (statistic in OF_CONTRASTS)
    _need(needed, where, f"contrasts: expected only with {' and '.join(OF_CONTRASTS)}")
    allowed = "terms" not in entry or statistic in OF_TERMS
    _need(allowed, where, f"terms: expected only with a sum or {OF_TERMS[1]}")
    lists = fits(given, list[list]) and bool(given) and all(given)
    _need(lists, where, f"terms: expected a list of selections, got {given!r:.60}")
    two = statistic != OF_TERMS[1] or len(given[0]) == 2
    _need(two, where, "terms: expected the two selections to compare")
    found = []
    for terms in given:
        found.append(tuple(_term(where, term) for term in terms))
    return tuple(found)


def _term(where: str, term: Any) -> Term:
    weighted = isinstance(term, dict) and _number(term.get("times", 1))
    words = "terms: expected selections, each with a number for times"
    _need(weighted, where, f"{words}, got {term!r:.60}")
    columns = {name: value for name, value in term.items() if name != "times"}
    rows = selection(where, columns)
    return Term(rows, float(term.get("times", 1)))


def selection(where: str, given: Any) -> Selection:
    """Returns columns and their values, {} for None. Raises UserError naming the column."""
    rows = {} if given is None else given
    mapping = isinstance(rows, dict) and fits([*rows], list[str])
    _need(mapping, where, f"rows: expected columns and their values, got {given!r:.60}")
    for name, value in rows.items():
        values = value if isinstance(value, list) else [value]
        plain = len(values) <= MOST and fits(values, list[str | float | bool])
        _need(plain, where, f"{name}: expected a value or a list of values, got {value!r:.60}")
    columns = ", ".join(sorted(SELECTED))
    for name in sorted({*rows} - SELECTED):
        _need(False, where, f"{name}: not a column to select by; {columns}")
    return dict(rows)


def _number(value: Any) -> bool:
    return fits(value, float)


def check_fields(where: Path | str, given: dict[str, Any], hints: dict[str, Any]) -> None:
    """Raises UserError for a field of another kind than its hint."""
    for name, hint in hints.items():
        right = name not in given or fits(given[name], hint)
        words = f"{name}: expected {describe(hint)}"
        _need(right, where, f"{words}, got {given.get(name)!r:.60}")


def check_text(where: Path | str, name: str, text: str) -> None:
    """Raises UserError for a text that a page of Markdown does not show as it is."""
    printable = "".join(text.split()).isprintable()
    _need(printable, where, f"{name}: holds unprintable characters")
    plain = MARKUP.search(text) is None
    _need(plain, where, f"{name}: holds markup of HTML; write < with a space behind it")


def _need(met: bool, where: Path | str, problem: str) -> None:
    if not met:
        raise UserError(where, problem=problem)
