"""Pairs of series that are compared, by name, from rows on disk and in memory."""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import pandas as pd

from extrap.results.comparison.cells import Cell, Scores, items, measured
from extrap.results.comparison.contrasts import Contrast, adjusted, contrasts
from extrap.results.series import Series, whole
from extrap.utils.errors import UserError

Found = Callable[[], tuple[Path, pd.DataFrame | None]]
"""Where the items of one evaluation are, and a table, as a `Scores` returns them."""

FACTOR = re.compile(r"(?<=\w)x[\d.]+$")
"""The factor at the end of the name of a series."""


def choose(known: list[Series], names: list[str]) -> list[Series]:
    """Returns the series of these names: labels of tables without spaces. A name may leave out a
    factor if there is only one, and the scheme before an extension.

    Raises UserError, listing the known names, for fewer than two names, for a name given twice, and
    for unknown and ambiguous names.
    """
    spelled = [(s.label.replace(" ", ""), s) for s in known]
    every = dict.fromkeys(label for label, _ in spelled)
    listed = f"series of this study: {', '.join(every)}"
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError("SERIES", ",".join(names), "expected two or more different series", listed)
    found = []
    for name in names:
        short = name.replace(" ", "")
        fitting = [(label, s) for label, s in spelled if short == label]
        if not fitting:
            fitting = [(label, s) for label, s in spelled if short == FACTOR.sub("", label)]
        if not fitting:
            fitting = [(label, s) for label, s in spelled if short == s.extension]
        if not fitting:
            raise UserError("SERIES", name, "no such series", listed)
        labels = dict.fromkeys(label for label, _ in fitting)
        if len(labels) != 1:
            remedy = f"choose one of {', '.join(labels)}"
            raise UserError("SERIES", name, "several series fit this name", remedy)
        if len(fitting) != 1:
            remedy = "give each a study of its own, or label=... to the runs of one"
            raise UserError("SERIES", name, f"{len(fitting)} series have this name", remedy)
        ((_, only),) = fitting
        found.append(only)
    return found


def paired(
    chosen: list[Series], scores: Scores, declared: list[str]
) -> tuple[list[list[Contrast]], list[str], list[str]]:
    """Returns (a list of contrasts for each series after the first, tasks without items, tasks with
    items of different questions).

    Raises UserError for a declared cell that the first series shares with no other: it would be
    missing from the family over which p is adjusted.
    """
    if declared:  # before the intervals, which take seconds
        own, *of_others = map(measured, chosen)
        cells = sorted(own.keys() & {*chain(*of_others)})
        for words in declared:
            fits = any(_fits(words, cell) for cell in cells)
            if not words.split() or not fits:
                known = f"cells are {', '.join(map(str, cells))}"
                raise UserError("--cell", words, "no such cell", known)
    of_items = []
    absent = set()
    for s in chosen:
        found, lacking = items(scores, s)
        of_items.append(found)
        absent |= {*lacking}
    first, *others = chosen
    of_first, *of_others = of_items
    pairs = []
    for other, theirs in zip(others, of_others, strict=True):
        pairs.append(contrasts(first, other, of_first, theirs))
    unlike = {one.cell.task for one in chain(*pairs) if one.unlike}
    if declared:
        pairs = [_declared(pair, declared) for pair in pairs]
    pairs = adjusted(pairs, together=bool(declared))
    return pairs, sorted(absent), sorted(unlike)


def _declared(pair: list[Contrast], declared: list[str]) -> list[Contrast]:
    """Returns the contrasts in cells that were declared."""
    kept = []
    for one in pair:
        if any(_fits(words, one.cell) for words in declared):
            kept.append(one)
    return kept


def _fits(words: str, cell: Cell) -> bool:
    return set(words.split()) <= {str(part) for part in cell}


def in_memory(
    rows: pd.DataFrame, names: list[str], kept: Mapping[tuple[str, str], pd.DataFrame | Found]
) -> pd.DataFrame:
    """Compares rows in memory: a row for each pair and cell, unrounded, in the columns of
    `cell_values`. kept: items, or a function that finds them, by run and hash of the evaluation.
    """

    def scores(key: str) -> tuple[Path, pd.DataFrame | None]:
        run, config = key.split(" ")
        found = kept.get((run, config))
        return found() if callable(found) else (Path(run), found)

    sheets = rows["run"] + " " + rows["config"]
    known = whole(rows.assign(sheet=sheets))
    chosen = choose(known, names)
    pairs, lacking, unlike = paired(chosen, scores, [])
    if lacking:
        absent = f"no scores of single items ({', '.join(lacking)}): one seed has no interval"
        warnings.warn(absent, stacklevel=3)
    if unlike:
        warnings.warn(unlike_words(unlike), stacklevel=3)
    first, *others = chosen
    found = []
    for other, pair in zip(others, pairs, strict=True):
        labels = {"first": first.label, "second": other.label}
        found += [labels | cell_values(contrast) for contrast in pair]
    return pd.DataFrame(found)


def cell_values(contrast: Contrast) -> dict:
    """Returns a contrast as plain values by name."""
    difference = asdict(contrast.difference)
    means = {"a": contrast.a, "b": contrast.b, "difference": difference.pop("value")}
    return contrast.cell._asdict() | means | difference | {"adjusted": contrast.p}


def none_differs(pair: list[Contrast]) -> bool:
    """True if every cell has an interval, and all intervals include 0."""
    for contrast in pair:
        found = contrast.difference
        if found.low is None or found.high is None or not found.low <= 0 <= found.high:
            return False
    return bool(pair)


def unlike_words(tasks: list[str]) -> str:
    """Returns the line about tasks whose items differ."""
    return (
        f"not paired by item: {', '.join(tasks)}; the runs were asked different questions (other "
        "task options, vocabulary or text), so differences there rest on seeds alone"
    )
