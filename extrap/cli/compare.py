"""`extrap compare STUDY A B [C ...]`: paired differences A - B, A - C, ... on the same documents,
trials and seeds, with 95 % intervals.
"""

import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import pandas as pd

from extrap.cli.columns import aligned
from extrap.cli.experiments import experiments
from extrap.cli.shared import as_json, need_study, parser, plain, reported
from extrap.results.comparison.cells import (
    Cell,
    Scores,
    items,
    measured,
    on_disk,
    opened,
    scanned,
)
from extrap.results.comparison.contrasts import Contrast, adjusted, contrasts
from extrap.results.places import place
from extrap.results.rows import folder, no_rows, read_items
from extrap.results.series import Series, judged, series, status_name
from extrap.utils.errors import UserError

METHOD = (
    "95 % intervals: one seed, bootstrap over items (Student's t below 10); several, seeds and "
    "items together (Banerjee); without items, Student's t over seeds. low*, high*: seeds "
    "alone, "
    "on these documents and trials; MDE: the difference that would show in 80 %"
)
FACTOR = re.compile(r"(?<=\w)x[\d.]+$")
HEADER = (
    "task",
    "protocol",
    "length",
    "metric",
    "A",
    "B",
    "A - B",
    "low",
    "high",
    "seeds",
    "items",
    "p",
    "MDE",
    "low*",
    "high*",
)
LEFT = [HEADER.index(name) for name in ("task", "protocol", "metric")]


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser(
        "extrap compare",
        "Paired differences between schemes of a study, with 95 % intervals.",
        study="optional",
        results=True,
        json=True,
    )
    command.add_argument(
        "names",
        metavar="SERIES",
        nargs="*",
        help="two or more, such as rope alibi rope+yarn; the first is compared to each",
    )
    command.add_argument(
        "--cell",
        action="append",
        default=[],
        metavar="WORDS",
        help='cells that are tested, such as "kv records 256" or '
        '"nll sliding"; Holm then adjusts over all of them (may be given again)',
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        choice = (args.results, need_study(args), args.names, args.cell)
        print(as_json(values(*choice)) if args.json else text(*choice))


def compare(results: Path, study: str, names: list[str], declared: list[str]):
    """(series, pairs): a list of contrasts for each series after the first. Items that are not on
    this disk are named in one line on stderr; differences then rest on seeds alone.
    """
    known = scanned(folder(results, study))
    if not known:
        raise no_rows(study)
    chosen = opened(place(results, study), choose(known, names))
    pairs, lacking, unlike = paired(chosen, on_disk(place(results, study)), declared)
    if lacking:
        print(f"extrap compare: {_missing(study, lacking)}", file=sys.stderr)
    if unlike:
        print(f"extrap compare: {_unlike(unlike)}", file=sys.stderr)
    return chosen, pairs


def paired(
    chosen: list[Series], scores: Scores, declared: list[str]
) -> tuple[list[list[Contrast]], list[str], list[str]]:
    """(a list of contrasts for each series after the first, tasks without items, tasks whose items
    are of different questions).
    """
    _check_declared(chosen, declared)
    of_items, lacking = zip(*(items(scores, s) for s in chosen), strict=True)
    pairs = [
        contrasts(chosen[0], other, of_items[0], theirs)
        for other, theirs in zip(chosen[1:], of_items[1:], strict=True)
    ]
    unlike = sorted({c.cell.task for c in chain(*pairs) if c.unlike})
    pairs = adjusted(_declared(pairs, declared), together=bool(declared))
    return pairs, sorted(set(chain(*lacking))), unlike


def in_memory(
    rows: pd.DataFrame, names: list[str], kept: Mapping[tuple[str, str], pd.DataFrame | Path]
) -> pd.DataFrame:
    """The comparison of rows that are not on disk, a row for each pair and cell, unrounded, in the
    columns of `values`. kept: items, or their file, by run and hash of the evaluation.
    """

    def scores(key: str) -> tuple[Path, pd.DataFrame | None]:
        run, config = key.split(" ")
        found = kept.get((run, config))
        if isinstance(found, Path):
            return found, read_items(found) if found.exists() else None
        return Path(run), found

    keyed = rows.assign(file=rows["run"] + " " + rows["config"], mark=judged(rows), status="ok")
    chosen = choose(series(keyed), names)
    pairs, lacking, unlike = paired(chosen, scores, [])
    if lacking:
        tasks = ", ".join(lacking)
        warnings.warn(
            f"no scores of single items ({tasks}): one seed has no interval", stacklevel=3
        )
    if unlike:
        warnings.warn(_unlike(unlike), stacklevel=3)
    return pd.DataFrame(
        {"first": chosen[0].label, "second": other.label} | _cell(contrast)
        for other, pair in zip(chosen[1:], pairs, strict=True)
        for contrast in pair
    )


def text(results: Path, study: str, names: list[str], declared: list[str]) -> str:
    """A table per pair, each followed by a sentence where it shows no difference."""
    (first, *others), pairs = compare(results, study, names, declared)
    method = f"{METHOD}{_adjusting(pairs, bool(declared))}"
    lines = [f"Study {study}, paired by seed and by item. {method}"]
    for other, pair in zip(others, pairs, strict=True):
        lines += ["", f"A = {first.label}, B = {other.label}"]
        lines += [line for line in map(_untrained, (first, other)) if line]
        lines += [*_table(pair), *_verdict(pair)]
    return "\n".join(lines)


def values(results: Path, study: str, names: list[str], declared: list[str]) -> dict:
    """The same as plain values, unrounded: {study, declared, pairs: [{a, b, no_difference,
    cells}]}.

    A cell has task, protocol, length, metric, the means a and b, difference, low, high, p, adjusted
    (p by Holm, null where nothing is adjusted), seeds, items (null: paired by seed alone),
    detectable (MDE), fixed_low and fixed_high (on these items).
    """
    (first, *others), pairs = compare(results, study, names, declared)
    return plain({
        "study": study,
        "declared": bool(declared),
        "pairs": [
            {"a": first.label, "b": other.label, "no_difference": none_differs(pair),
             "cells": [_cell(contrast) for contrast in pair]}
            for other, pair in zip(others, pairs, strict=True)
        ],
    })  # fmt: skip


def none_differs(pair: list[Contrast]) -> bool:
    """Whether every cell has an interval, and all of them include 0."""
    found = [c.difference for c in pair]
    return bool(found) and all(d.low is not None and d.low <= 0 <= d.high for d in found)


def _cell(contrast: Contrast) -> dict:
    difference = asdict(contrast.difference)
    means = {"a": contrast.a, "b": contrast.b, "difference": difference.pop("value")}
    return contrast.cell._asdict() | means | difference | {"adjusted": contrast.p}


def _verdict(pair: list[Contrast]) -> list[str]:
    if not none_differs(pair):
        return []
    least = [c.difference.detectable for c in pair]
    bounds = dict.fromkeys(f"{x:.3f}" for x in (min(least), max(least)))
    return [
        (
            "no difference in these cells: all intervals include 0; differences of "
            f"{' to '.join(bounds)} would show in 80 % of studies like this one"
        )
    ]


def choose(known: list[Series], names: list[str]) -> list[Series]:
    """The series of these names: labels as tables have them, spaces left out; a factor may be left
    out where it is the only one, and the scheme before an extension.

    Raises UserError, listing the known names, for fewer than two, for one given twice, and for
    unknown and ambiguous ones.
    """
    spelled = [(s.label.replace(" ", ""), s) for s in known]
    listed = f"series of this study: {', '.join(dict.fromkeys(label for label, _ in spelled))}"
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError("SERIES", ",".join(names), "expected two or more different series", listed)
    found = []
    for name in names:
        short = name.replace(" ", "")
        fitting = [(at, one) for at, one in spelled if short in (at, FACTOR.sub("", at))]
        fitting = fitting or [(at, one) for at, one in spelled if short == one.extension]
        if len({label for label, _ in fitting}) != 1:
            raise UserError(
                "SERIES",
                name,
                "several factors fit this name" if fitting else "no such series",
                listed,
            )
        if len(fitting) != 1:
            raise UserError(
                "SERIES",
                name,
                f"{len(fitting)} series have this name",
                "give each a study of its own, or label=... to the runs of one",
            )
        found.append(fitting[0][1])
    return found


def _check_declared(chosen: list[Series], declared: list[str]) -> None:
    """Raises UserError for a declared cell that the first series shares with no other: it would be
    missing from the family over which p is adjusted. Before the intervals, which take seconds.
    """
    if not declared:
        return
    first, *others = map(measured, chosen)
    cells = sorted(first.keys() & {*chain(*others)})
    for words in declared:
        if not words.split() or not any(_fits(words, cell) for cell in cells):
            known = f"cells are {', '.join(map(str, cells))}"
            raise UserError("--cell", words, "no such cell", known)


def _declared(pairs: list[list[Contrast]], declared: list[str]) -> list[list[Contrast]]:
    """The contrasts of the cells that were declared; all of them if none was."""
    return [
        [c for c in pair if not declared or any(_fits(words, c.cell) for words in declared)]
        for pair in pairs
    ]


def _fits(words: str, cell: Cell) -> bool:
    return set(words.split()) <= {str(part) for part in cell}


def _adjusting(pairs: list[list[Contrast]], declared: bool) -> str:
    """What p is adjusted for, and that it is not where several cells are shown and none was
    declared.
    """
    count = sum(map(len, pairs)) if declared else len(pairs)
    if declared or max(map(len, pairs)) == 1:
        return f"; p adjusted by Holm over {count} contrasts" if count > 1 else ""
    adjusted = (
        f"adjusted by Holm over {count} contrasts in each cell, not over cells"
        if count > 1
        else "of each cell by itself"
    )
    return f"; p {adjusted}: declare cells with --cell to adjust over them"


def _unlike(tasks: list[str]) -> str:
    return (
        f"not paired by item: {', '.join(tasks)}; the runs were asked different questions (other "
        "task options, vocabulary or text), so differences there rest on seeds alone"
    )


def _missing(study: str, tasks: list[str]) -> str:
    steps = " and ".join(f"`extrap experiment={name}`" for name in experiments(study))
    made = (
        f"{steps} in a fresh clone makes them"
        if steps
        else "the machine that made the study has them"
    )
    return (
        f"scores of single items ({', '.join(tasks)}) are not committed and not here, so one seed "
        f"alone has no interval; {made}"
    )


def _untrained(s: Series) -> str | None:
    """Protocols are named where they are not all of the task."""
    failed = s.rows[s.rows["mark"] != "ok"]
    words = []
    for (task, mark), part in failed.groupby(["task", "mark"]):
        every, these = (
            {*rows["protocol"]} - {""} for rows in (s.rows[s.rows["task"] == task], part)
        )
        which = f" {', '.join(sorted(these))}" if these < every else ""
        seeds = ", ".join(map(str, sorted(part["seed"].unique())))
        words.append(f"{task}{which} seed {seeds} {status_name(mark)}")
    if not words:
        return None
    return f"{s.label}: {', '.join(words)}; no statement about length rests on these"


def _table(pair: list[Contrast]) -> list[str]:
    if not pair:
        return ["none of the cells that were declared is of both"]
    lines = [HEADER]
    for cell, a, b, d, p, _ in pair:
        numbers = [_number(x) for x in (a, b, d.value, d.low, d.high)]
        rest = [_number(x) for x in (d.detectable, d.fixed_low, d.fixed_high)]
        lines.append((cell.task, cell.protocol, str(cell.length or ""), cell.metric, *numbers,
                      str(d.seeds), str(d.items or "-"), _number(p, 3), *rest))  # fmt: skip
    return aligned(lines, left=LEFT)


def _number(x: float | None, digits: int = 4) -> str:
    return "-" if x is None else f"{x:.{digits}f}"
