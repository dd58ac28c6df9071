"""Calls from Python: a wrong argument is one line that names it, whatever the function."""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import extrap
from extrap.results.csv_table import TEXT
from extrap.results.rows import checked_frame
from extrap.results.schema import COLUMNS, SCHEMA
from extrap.utils.errors import UserError

ROW = {name: "a" if kind is TEXT else 1 for name, kind in SCHEMA.items()} | {"status": "ok"}
ROWS = pd.DataFrame([ROW, ROW | {"metric": "b"}])
CALLS: dict[str, Callable[[], object]] = {
    "words=5": lambda: extrap.train(5),
    "words=list": lambda: extrap.train(["seed=1"]),
    "scheme": lambda: extrap.train(scheme="rope"),
    "evaluate": extrap.evaluate,
    "tasks=5": lambda: extrap.evaluate("a/b", tasks=5),
    "tasks=list": lambda: extrap.evaluate("a/b", tasks=[]),
    "task": lambda: extrap.evaluate("a/b", task="kv"),
    "multiples=5": lambda: extrap.evaluate("a/b", multiples=5),
    "multiples=list": lambda: extrap.evaluate("a/b", multiples=[float("nan")]),
    "extension=list": lambda: extrap.evaluate("a/b", extension=[]),
    "factor=x": lambda: extrap.evaluate("a/b", extension="yarn", factor="x"),
    "study=5": lambda: extrap.rows(5),
    "results=5": lambda: extrap.rows("demo", 5),
    "rows=dict": lambda: extrap.plot({}, "kv_depth"),
    "figure=5": lambda: extrap.plot(ROWS, 5),
    "width=-1": lambda: extrap.plot(ROWS, "kv_depth", width=-1),
    "plugins=mine": lambda: extrap.plot(ROWS, "kv_depth", plugins="mine"),
    "others=5": lambda: extrap.compare(ROWS, "a", 5),
}
FRAMES = {
    "task: missing": ROWS.drop(columns="task"),
    "run: stands there 2 times": pd.concat([ROWS, ROWS["run"]], axis=1),
    "value: expected a number": ROWS.assign(value="x"),
    "value: expected a number, got complex": ROWS.assign(value=1j),
    "length: expected a whole number": ROWS.assign(length=0.5),
    "train_length: expected at least 1": ROWS.assign(train_length=0),
    "scheme: expected a text": ROWS.assign(scheme=5),
    "scheme: empty in some rows": ROWS.assign(scheme=None),
    "status: fine is none of": ROWS.assign(status="fine"),
    "two values at the coordinates of a, a, a": pd.concat([ROWS, ROWS.assign(value=2.0)]),
}


@pytest.mark.parametrize("named", CALLS)
def test_a_wrong_argument_is_one_line(named):
    with pytest.raises(UserError) as found:
        CALLS[named]()
    assert str(found.value).startswith(f"{named}: ") and len(str(found.value).splitlines()) == 1


@pytest.mark.parametrize("wrong", FRAMES)
@pytest.mark.parametrize("call", [extrap.plot, extrap.compare])
def test_rows_that_nobody_measured(wrong, call):
    with pytest.raises(UserError, match=f"^rows: .*{wrong}"):
        call(FRAMES[wrong], "kv_depth")


def test_honest_rows():
    """More columns, a curve that two evaluations share, and what pandas makes of a CSV."""
    read = ROWS.assign(length=1.0, protocol=np.nan, mine="x")
    assert list(checked_frame(pd.concat([read, read])).index) == [0, 1]
    assert {*COLUMNS} < {*checked_frame(read).columns}


def test_honest_arguments(monkeypatch):
    monkeypatch.setattr("extrap.api._source", lambda *_: sys.exit(3))
    given = {"tasks": ("kv", "nll"), "multiples": np.array([1, 2]), "factor": np.float32(2)}
    for extension in ("yarn", [None, "yarn"], (name for name in ["ntk"])):
        with pytest.raises(UserError, match=r"evaluate: code inside called sys\.exit\(3\)"):
            extrap.evaluate("a/b", **given, extension=extension)
