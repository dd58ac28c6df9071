"""Rows: what is written reads back, and the same rows are the same file. Damaged files of rows are
cases of tests/faults/cases_runs.py.
"""

import hashlib
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.results import rows, schema
from extrap.results.csv_table import REAL, TEXT, WHOLE
from extrap.utils.errors import UserError
from tests.support.plausible import around, identity, run_rows
from tests.support.plausible import row as plain

GOOD = identity("rope", factor=1.0, params=1, corpus="ab", config="cd", commit="ef")
GOOD |= plain("nll", "nonoverlap", 64, "nll", **around(2.0, 0.1), n=64, tokens=4096)

text = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
whole = st.integers(-(2**63) + 1, 2**63 - 1)
real = st.floats(allow_nan=False)
drawn = {name: {TEXT: text, WHOLE: whole, REAL: real}[kind] for name, kind in schema.SCHEMA.items()}
always = {name: drawn[name] for name in (*rows.REQUIRED, "value")} | {
    "status": st.sampled_from(schema.STATUSES)
}
row = st.fixed_dictionaries(
    always,
    optional={name: drawn[name] for name in schema.SCHEMA if name not in (*always, "low", "high")},
)


def key(row):
    return tuple(row.get(name) for name in rows.KEY)


@settings(max_examples=50, deadline=None)
@given(st.lists(row, min_size=1, max_size=3, unique_by=key))
def test_rows_read_back_exactly(tmp_path_factory, written):
    study = tmp_path_factory.mktemp("study")
    rows.write(study / "rows" / "a.csv", written)
    back = rows.read(study)
    assert list(back.columns) == [*rows.COLUMNS, rows.MULTIPLE]
    back = back[[*rows.COLUMNS]]
    back = back.astype(object).where(back.notna(), None).to_dict("records")
    empty = {name: "" if kind is TEXT else None for name, kind in schema.SCHEMA.items()}
    assert sorted(map(repr, back)) == sorted(repr(empty | r) for r in written)


def test_a_frame_knows_the_multiple_of_the_training_length_and_no_file_does(tmp_path):
    written = [plain("nll", "sliding", length, "nll", 1.0) for length in (48, 128, None)]
    written = [identity("rope") | row for row in written]
    rows.write(tmp_path / "rows" / "a.csv", written)
    read = rows.read(tmp_path).sort_values("length")
    for frame in (read, rows.as_read(written), rows.checked_frame(read.drop(columns="multiple"))):
        known = frame.sort_values("length")["multiple"]
        assert known.tolist()[:2] == [0.75, 2.0] and math.isnan(known.iloc[2])
    first = (tmp_path / "rows" / "a.csv").read_bytes()
    again = read.astype(object).where(read.notna(), None).to_dict("records")
    rows.write(tmp_path / "b.csv", again)
    assert (tmp_path / "b.csv").read_bytes() == first and b"multiple" not in first


def test_same_rows_are_the_same_file_and_its_hash_is_returned(tmp_path):
    written = run_rows("rope")
    first = rows.write(tmp_path / "a.csv", written)
    second = rows.write(tmp_path / "b.csv", written[::-1])
    assert first == second == hashlib.sha256((tmp_path / "a.csv").read_bytes()).hexdigest()
    assert rows.write(tmp_path / "a.csv", written[1:]) != first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": "red"}, "unknown column colour"),
        ({"length": "long"}, "length: 'long' is not a whole number|'long' is not a whole number"),
        ({"length": 64.5}, "not a whole number"),
        ({"length": 2**63}, "too large"),
        ({"value": math.nan}, "value is empty, which only a diverged run may leave"),
        ({"value": "high"}, "not a number"),
    ],
)
def test_faulty_rows_are_not_written(tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        rows.write(tmp_path / "a.csv", [GOOD | change])
    assert not list(tmp_path.iterdir())


def test_a_diverged_run_may_leave_its_value_empty(tmp_path):
    rows.write(tmp_path / "rows" / "a.csv", [GOOD | {"value": math.nan, "status": "diverged"}])
    assert rows.read(tmp_path)["value"].isna().all()


def test_repeated_coordinates_across_files_are_told_with_both_places(tmp_path):
    for name in ("a", "b"):
        rows.write(tmp_path / "rows" / f"{name}.csv", [GOOD])
    with pytest.raises(UserError, match=r"b\.csv:2: the same coordinates and metric as .*a\.csv:2"):
        rows.read(tmp_path)


def test_unfinished_files_are_not_read(tmp_path):
    rows.write(tmp_path / "rows" / "a.csv", [GOOD])
    (tmp_path / "rows" / "b.csv.7.tmp").write_text("half a ro")
    assert len(rows.read(tmp_path)) == 1


def test_an_unknown_study_lists_the_known_ones(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", [GOOD])
    assert len(rows.open_study(tmp_path, "demo")) == 1
    with pytest.raises(UserError, match=r"STUDY=demi: no such study in .*; studies there: demo"):
        rows.open_study(tmp_path, "demi")
    with pytest.raises(UserError, match="no rows here"):
        rows.read(tmp_path)


def test_corpora_are_not_mixed(tmp_path):
    rows.write(tmp_path / "rows" / "a.csv", [GOOD, GOOD | {"scheme": "nope", "corpus": ""}])
    assert rows.comparable(rows.read(tmp_path)) is not None
    rows.write(tmp_path / "rows" / "b.csv", [GOOD | {"run": "t5-x-s0", "corpus": "other"}])
    with pytest.raises(
        UserError, match=r"corpus=ab \(rope-cafe0123-s0\), other \(t5-x-s0\): .*different corpora"
    ):
        rows.comparable(rows.read(tmp_path))


def test_items_read_back(tmp_path):
    same = {"protocol": "records", "length": 64, "metric": "accuracy", "value": 1.0}
    items = [same | {"depth": d, "item": i} for d in (0, 0.5) for i in range(3)]
    digest = rows.write_items(tmp_path / "items" / "a.csv", items)
    assert digest == hashlib.sha256((tmp_path / "items" / "a.csv").read_bytes()).hexdigest()
    back = rows.read_items(tmp_path / "items" / "a.csv")
    expected = pd.DataFrame(items).astype(
        {"length": "Int64", "item": "str", "protocol": "str", "metric": "str"}
    )
    pd.testing.assert_frame_equal(back, expected[list(schema.ITEM_SCHEMA)])
    with pytest.raises(ValueError, match="item or value is empty"):
        rows.write_items(tmp_path / "b.csv", [items[0] | {"value": None}])
