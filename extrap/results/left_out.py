"""Rows that packing leaves out, so that results/ stays small: the `left_out.yaml` of a study.

    - {metric: [restricted, format]}
    - {task: diagnostics, metric: sink, head: any}
    - {task: train, axis: step, between: 200}

A rule names columns, each with a value or a list of values; a row that fits all of them is left
out. `any` stands for every value but none. `between` keeps the multiples of a number along `at` and
the last row of its file: of a training curve every 200th step and the end.
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from extrap.results.schema import COLUMNS
from extrap.utils.errors import UserError
from extrap.utils.hints import fits
from extrap.utils.untrusted import read_yaml

FILE = "left_out.yaml"
BETWEEN = "between"
ANY = "any"
Rule = Mapping[str, Any]


def rules(study: Path) -> list[Rule]:
    """Returns the rules of a study's folder, none without the file. Raises UserError, naming the
    rule, for a damaged one.
    """
    path = study / FILE
    if not path.is_file():
        return []
    return checked(path, read_yaml(path))


def checked(path: Path, given: Any) -> list[Rule]:
    """Returns what a file holds if it is a list of rules. Raises UserError, naming the rule."""
    if not isinstance(given, list):
        problem = "expected a list of rules, each with columns and their values"
        raise UserError(path, problem=problem)
    for number, rule in enumerate(given, 1):
        _check(f"{path}: rule {number}", rule)
    return given


def _check(where: str, rule: Any) -> None:
    if not isinstance(rule, dict) or not {*rule} - {BETWEEN}:
        raise UserError(where, problem="expected columns and their values, as in metric: format")
    columns = {*rule} - {BETWEEN}
    for name in sorted(columns - {*COLUMNS}, key=str):
        remedy = f"there are {', '.join(COLUMNS)}"
        raise UserError(where, problem=f"{name}: no column", remedy=remedy)
    for name in columns:
        if not all(fits(value, str | float | bool) for value in _values(rule[name])):
            raise UserError(where, problem=f"{name}: expected a value or a list of values")
    step = rule.get(BETWEEN, 1)
    if isinstance(step, bool) or not isinstance(step, int) or step < 1:
        raise UserError(where, problem=f"{BETWEEN}={step}: expected a whole number from 1")


def tasks(rules: list[Rule]) -> set[str]:
    """Returns the tasks of which no row is kept."""
    whole = [_values(rule["task"]) for rule in rules if {*rule} == {"task"}]
    return set(chain.from_iterable(whole))


def left(rows: pd.DataFrame, rules: list[Rule]) -> pd.Series:
    """Returns a mask of the rows of one file: True for a row that some rule leaves out."""
    out = pd.Series(False, rows.index)
    for rule in rules:
        here = pd.Series(True, rows.index)
        for name in {*rule} - {BETWEEN}:
            column = rows[name]
            known = column.notna() & (column != "").fillna(False)
            if rule[name] != ANY:
                wanted = _values(rule[name])
                known = column.isin(wanted).fillna(False)
            here &= known
        if BETWEEN in rule:
            at = rows["at"]
            last = at[here].max()
            here &= at.notna() & (at != last)
            here &= at % rule[BETWEEN] != 0
        out |= here
    return out.astype(bool)


def _values(wanted: Any) -> list:
    return wanted if isinstance(wanted, list) else [wanted]
