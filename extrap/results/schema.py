"""The one schema of results, which README.md describes: columns of rows and of scores of items, and
which rows may exist.
"""

from collections.abc import Iterable, Mapping

from extrap.results.csv_table import REAL, TEXT, WHOLE, Damaged, Table

SCHEMA = {
    "run": TEXT,
    "study": TEXT,
    "scheme": TEXT,
    "data": TEXT,
    "extension": TEXT,
    "factor": REAL,
    "seed": WHOLE,
    "train_length": WHOLE,
    "task": TEXT,
    "protocol": TEXT,
    "length": WHOLE,
    "depth": REAL,
    "axis": TEXT,
    "at": REAL,
    "layer": WHOLE,
    "head": WHOLE,
    "metric": TEXT,
    "value": REAL,
    "low": REAL,
    "high": REAL,
    "n": WHOLE,
    "tokens": WHOLE,
    "status": TEXT,
    "params": WHOLE,
    "corpus": TEXT,
    "config": TEXT,
    "commit": TEXT,
}
ITEM_SCHEMA = {"protocol": TEXT, "length": WHOLE, "depth": REAL, "metric": TEXT, "item": TEXT}
ITEM_SCHEMA |= {"value": REAL}
COLUMNS = tuple(SCHEMA)
FIRST_MEASURED = COLUMNS.index("protocol")
AFTER_MEASURED = COLUMNS.index("params")
COORDINATES = COLUMNS[: COLUMNS.index("metric")]
KEY = (*COORDINATES, "metric")
MEASURED = {name: SCHEMA[name] for name in COLUMNS[FIRST_MEASURED:AFTER_MEASURED]}
"""The columns that a task fills; the others say which run it measured."""
ITEM_KEY = ("protocol", "length", "depth", "metric", "item")
REQUIRED = ("run", "study", "scheme", "data", "extension", "seed", "train_length", "task")
REQUIRED += ("metric", "config")
STATUSES = ("ok", "not trained", "diverged")


def _check(row: dict) -> None:
    for name in REQUIRED:
        if row[name] in ("", None):
            raise Damaged(f"{name} is empty")
    _check_measured(row)


def _check_measured(row: dict) -> None:
    if row["status"] not in STATUSES:
        raise Damaged(f"status: {row['status']!r} is none of {', '.join(STATUSES)}")
    if row["metric"] == "":
        raise Damaged("metric is empty")
    if row["value"] is None and row["status"] != "diverged":
        raise Damaged("value is empty, which only a diverged run may leave")
    low = row["low"]
    high = row["high"]
    if None not in (low, high) and low > high:
        raise Damaged(f"low {low} lies above high {high}")


def _check_item(row: dict) -> None:
    if row["item"] == "" or row["value"] is None:
        raise Damaged("item or value is empty")


ROWS = Table(SCHEMA, KEY, _check)
MEASURED_KEY = tuple(name for name in KEY if name in MEASURED)
OF_TASK = Table(MEASURED, MEASURED_KEY, _check_measured)
ITEMS = Table(ITEM_SCHEMA, ITEM_KEY, _check_item)


def check_measured(rows: Iterable[Mapping]) -> None:
    """Raises ValueError for the first row of a task that `write` would not take."""
    OF_TASK.encoded(rows)
