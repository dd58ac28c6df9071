"""Rows that a study does not keep in git, so that results/ stays small: its `left_out.yaml`.

    - {metric: [restricted, format]}
    - {task: diagnostics, metric: sink, head: any}
    - {task: train, axis: step, between: 200}

A rule names columns, each with a value or a list of them, all of which must be there; `any` stands
for every value but none. `between` narrows a rule to what stands between its multiples along `at`
and before the last of its file: of a training curve, all but every 200th step and the end.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from extrap.results import rows as table
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_yaml

FILE = "left_out.yaml"
BETWEEN = "between"
ANY = "any"
Rule = Mapping[str, Any]


def rules(study: Path) -> list[Rule]:
    """Of a study's folder; none where it has no such file. Raises UserError, naming the rule, for a
    damaged one.
    """
    path = study / FILE
    if not path.is_file():
        return []
    parsed = read_yaml(path)
    if not isinstance(parsed, list):
        raise UserError(
            path, problem="expected a list of rules, each with columns and their values"
        )
    for number, rule in enumerate(parsed, 1):
        _check(f"{path}: rule {number}", rule)
    return parsed


def _check(where: str, rule: Any) -> None:
    if not isinstance(rule, dict) or not {*rule} - {BETWEEN}:
        raise UserError(where, problem="expected columns and their values, as in metric: format")
    for name in sorted({*rule} - {*table.COLUMNS, BETWEEN}, key=str):
        raise UserError(
            where, problem=f"{name}: no column", remedy=f"there are {', '.join(table.COLUMNS)}"
        )
    step = rule.get(BETWEEN, 1)
    if isinstance(step, bool) or not isinstance(step, int) or step < 1:
        raise UserError(where, problem=f"{BETWEEN}={step}: expected a whole number from 1")


def tasks(rules: list[Rule]) -> set[str]:
    """Those of which no row is kept."""
    named = [rule["task"] for rule in rules if {*rule} == {"task"}]
    return {task for one in named for task in (one if isinstance(one, list) else [one])}


def split(records: list[dict], rules: list[Rule]) -> tuple[list[dict], list[dict]]:
    """The rows of one file that are kept, and those that some rule leaves out."""
    tests = [_test(rule, records) for rule in rules]
    out = [any(test(record) for test in tests) for record in records]
    kept = [record for record, left in zip(records, out, strict=True) if not left]
    return kept, [record for record, left in zip(records, out, strict=True) if left]


def _test(rule: Rule, records: list[dict]) -> Callable[[dict], bool]:
    columns = {name: value for name, value in rule.items() if name != BETWEEN}
    named = [record for record in records if _matches(columns, record)]
    if BETWEEN not in rule:
        return lambda record: _matches(columns, record)
    last = max((record["at"] for record in named if record["at"] is not None), default=None)
    return lambda record: (
        _matches(columns, record)
        and record["at"] is not None
        and record["at"] != last
        and bool(record["at"] % rule[BETWEEN])
    )


def _matches(columns: Rule, record: dict) -> bool:
    for name, wanted in columns.items():
        value = record[name]
        if wanted == ANY:
            if value is None or value == "":
                return False
        elif value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def thin(study: Path) -> int:
    """Writes the rows of a study again without those that its rules leave out; returns how many
    went. A file of which nothing is kept is removed. Raises UserError as `rules` and `rows.read`.
    """
    known, gone = rules(study), 0
    for file in table.files(study) if known else []:
        kept, left = split(table.records([file]), known)
        gone += len(left)
        if left and kept:
            table.write(file, kept)
        elif left:
            file.unlink()
    return gone
