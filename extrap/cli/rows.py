"""Print the rows of a study as CSV: all of them, or those of some values.

`extrap rows zoo --where scheme=rope,alibi task=kv` prints the rows of two schemes. An empty value
stands for a missing one; a number is compared as a number.
"""

from argparse import Namespace
from collections.abc import Iterator

import pandas as pd

from extrap.cli.part import words
from extrap.cli.shared import argument, command
from extrap.results.csv_table import TEXT
from extrap.results.rows import MULTIPLE, open_study
from extrap.results.schema import COLUMNS, ROWS, SCHEMA
from extrap.utils.errors import UserError, choose

WHERE = argument("--where", nargs="+", action="extend", default=[], metavar="COLUMN=VALUE",
                 help="rows of this value, or of one of several separated by commas")  # fmt: skip
CSV = argument("--csv", action="store_true", help="print CSV, the only form and the default")


@command("study results", WHERE, CSV)
def main(args: Namespace) -> Iterator[str]:
    rows = open_study(args.results, args.study)
    every = rows
    for word in args.where:
        rows = rows[_fits(rows, word, every)]
    rows = rows.drop(columns=MULTIPLE)
    yield ROWS.encoded(rows.to_dict("records")).decode().rstrip("\n")


def _fits(rows: pd.DataFrame, word: str, every: pd.DataFrame) -> pd.Series:
    """Returns a mask of the rows that have one of the values of `column=value,value`. Raises
    UserError for another column, and for words that no row of the study has there.
    """
    name, sign, text = word.partition("=")
    if name not in COLUMNS:
        raise UserError("--where", word, "no such column", choose(name, COLUMNS))
    if not sign:
        remedy = f"give a value, as in {name}=..., or none for a missing one, as in {name}="
        raise UserError("--where", word, "not of the form column=value", remedy)
    values = words(text)
    column = rows[name]
    if SCHEMA[name] is TEXT:
        known = {*every[name]}
        for value in values:
            if value and value not in known:
                raise UserError("--where", f"{name}={value}", "no such value", choose(value, known))
        return column.isin(values)
    known = [_number(name, value) for value in values if value]
    fits = column.isin(known).fillna(False).astype(bool)
    return fits | column.isna() if "" in values else fits


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        problem = "expected a number"
        raise UserError("--where", f"{name}={text}", problem, f"as in {name}=1") from None
