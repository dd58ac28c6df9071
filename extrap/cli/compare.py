"""Paired differences between schemes of a study, with 95 % intervals."""

import sys
from argparse import Namespace
from pathlib import Path

import pandas as pd

from extrap.cli.columns import aligned
from extrap.cli.experiments import experiments
from extrap.cli.shared import argument, as_json, command, need_study, plain
from extrap.results.cells import counted
from extrap.results.comparison.cells import on_disk, opened
from extrap.results.comparison.contrasts import Contrast
from extrap.results.comparison.pairs import cell_values, choose, none_differs, paired, unlike_words
from extrap.results.places import place
from extrap.results.rows import folder, no_rows
from extrap.results.series import Series, status_name

METHOD = (
    "95 % intervals: one seed, bootstrap over items (Student's t below 10); several, seeds and "
    "items together (Banerjee); without items, Student's t over seeds. low*, high*: seeds alone, "
    "on these documents and trials; MDE: the difference that would show in 80 %"
)
NOTHING_LEARNED = "no statement about length rests on these"
HEADER = (
    *("task", "protocol", "length", "metric", "A", "B", "A - B", "low", "high"),
    *("seeds", "items", "p", "MDE", "low*", "high*"),
)
LEFT = [HEADER.index(name) for name in ("task", "protocol", "metric")]


NAMES = "two or more, such as rope alibi rope+yarn; the first is compared to each"
CELL = (
    'cells that are tested, such as "kv records 256" or "nll sliding"; Holm then adjusts over all '
    "of them (may be given again)"
)


@command(
    "study? results json",
    argument("names", metavar="SERIES", nargs="*", help=NAMES),
    argument("--cell", action="append", default=[], metavar="WORDS", help=CELL),
)
def main(args: Namespace) -> str:
    choice = (args.results, need_study(args), args.names, args.cell)
    return as_json(values(*choice)) if args.json else text(*choice)


def compare(results: Path, study: str, names: list[str], declared: list[str]):
    """Returns (series, pairs): a list of contrasts for each series after the first. A line on
    stderr names the tasks without items on this disk; their differences rest on seeds alone.
    """
    known = opened(folder(results, study))
    if not known:
        raise no_rows(study)
    chosen = choose(known, names)
    pairs, lacking, unlike = paired(chosen, on_disk(place(results, study)), declared)
    if lacking:
        print(f"extrap compare: {_missing(study, lacking)}", file=sys.stderr)
    if unlike:
        print(f"extrap compare: {unlike_words(unlike)}", file=sys.stderr)
    return chosen, pairs


def text(results: Path, study: str, names: list[str], declared: list[str]) -> str:
    """Returns a table for each pair; a sentence follows a table without any difference."""
    (first, *others), pairs = compare(results, study, names, declared)
    method = f"{METHOD}{_adjusting(pairs, bool(declared))}"
    lines = [f"Study {study}, paired by seed and by item. {method}"]
    for other, pair in zip(others, pairs, strict=True):
        lines += ["", f"A = {first.label}, B = {other.label}"]
        lines += [line for line in map(_below_gate, (first, other)) if line]
        lines += [*_table(pair), *_verdict(pair)]
    return "\n".join(lines)


def values(results: Path, study: str, names: list[str], declared: list[str]) -> dict:
    """Returns the tables as plain values, unrounded: {study, declared, pairs: [{a, b,
    no_difference, cells}]}.

    A cell has task, protocol, length, metric, the means a and b, difference, low, high, p, adjusted
    (p by Holm, null where nothing is adjusted), seeds, items (null: paired by seed alone),
    detectable (MDE), fixed_low and fixed_high (on these items).
    """
    (first, *others), pairs = compare(results, study, names, declared)
    tables = []
    for other, pair in zip(others, pairs, strict=True):
        table = {"a": first.label, "b": other.label, "no_difference": none_differs(pair)}
        tables.append(table | {"cells": [cell_values(contrast) for contrast in pair]})
    return plain({"study": study, "declared": bool(declared), "pairs": tables})


def _verdict(pair: list[Contrast]) -> list[str]:
    if not none_differs(pair):
        return []
    least = [c.difference.detectable or 0.0 for c in pair]
    bounds = dict.fromkeys(f"{x:.3f}" for x in (min(least), max(least)))
    return [
        "no difference in these cells: all intervals include 0; differences of "
        f"{' to '.join(bounds)} would show in 80 % of studies like this one"
    ]


def _adjusting(pairs: list[list[Contrast]], declared: bool) -> str:
    """Returns what p is adjusted for; not over cells unless they are declared."""
    count = sum(map(len, pairs)) if declared else len(pairs)
    if declared or max(map(len, pairs)) == 1:
        return f"; p adjusted by Holm over {count} contrasts" if count > 1 else ""
    adjusted = "of each cell by itself"
    if count > 1:
        adjusted = f"adjusted by Holm over {count} contrasts in each cell, not over cells"
    return f"; p {adjusted}: declare cells with --cell to adjust over them"


def _missing(study: str, tasks: list[str]) -> str:
    made = "the machine that made the study has them if the task records them (`cell.scores`)"
    if names := experiments(study):
        # with the rows of the repository accepted, nothing would be measured
        steps = " and ".join(f"`extrap experiment={name} accept_rows=false`" for name in names)
        made = f"{steps} in a fresh clone makes them"
    return (
        f"scores of single items ({', '.join(tasks)}) are not committed and not here, so one seed "
        f"alone has no interval; {made}"
    )


def _below_gate(s: Series) -> str | None:
    """Returns the tasks that seeds of a series have not learned, and how many seeds count if some
    do not; the protocols of a task if others are learned.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for (task, protocol), part in s.rows.groupby(["task", "protocol"]):
        passed = part["mark"] == "ok"
        if not passed.all():
            said = [_failures(part[~passed])]
            count, every = counted(part)["seed"].nunique(), part["seed"].nunique()
            if not passed.any():
                said.append(NOTHING_LEARNED)
            elif count < every:
                said.append(f"{count} of {every} seeds count")
            alike.setdefault((str(task), ", ".join(said)), []).append(str(protocol))
    words = []
    for (task, why), protocols in alike.items():
        known = {*s.rows.loc[s.rows["task"] == task, "protocol"]} - {""}
        these = {*protocols} - {""}
        if known and not these:  # of no protocol, as the chance of a guess
            continue
        which = f" {', '.join(sorted(these))}" if these < known else ""
        words.append(f"{task}{which} {why}")
    return f"{s.label}: {'; '.join(words)}" if words else None


def _failures(rows: pd.DataFrame) -> str:
    """Returns the seeds of rows that are not ok by their reason; at which lengths they diverged."""
    found: dict[str, list[str]] = {}
    for (mark, seed), part in rows.groupby(["mark", "seed"]):
        lengths = part["length"].dropna().unique() if mark == "diverged" else []
        at = ", ".join(f"{length:g}" for length in sorted(lengths))
        reason = status_name(str(mark)) + (f" at {at}" if at else "")
        found.setdefault(reason, []).append(str(seed))
    return ", ".join(f"seed {', '.join(seeds)} {reason}" for reason, seeds in found.items())


def _table(pair: list[Contrast]) -> list[str]:
    if not pair:
        return ["no declared cell has values for both series"]
    lines: list[tuple[str, ...]] = [HEADER]
    for cell, a, b, d, p, _ in pair:
        numbers = [_number(x) for x in (a, b, d.value, d.low, d.high)]
        rest = [_number(x) for x in (d.detectable, d.fixed_low, d.fixed_high)]
        lines.append((cell.task, cell.protocol, str(cell.length or ""), cell.metric, *numbers,
                      str(d.seeds), str(d.items or "-"), _number(p, 3), *rest))  # fmt: skip
    return aligned(lines, left=LEFT)


def _number(x: float | None, digits: int = 4) -> str:
    return "-" if x is None else f"{x:.{digits}f}"
