"""Packed scores of items: the same values as the files of jobs, of the packed rows alone, merged
from two people, and refused if damaged.
"""

import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import extrap
from extrap.cli import pack as command
from extrap.results import packed_items, packing, packing_items, rows
from extrap.results.comparison.cells import on_disk
from extrap.results.sheets import Sheet
from extrap.utils.errors import UserError
from tests.cli.test_compare import lines, study
from tests.support.plausible import run_rows

KV = "rope-cafe0123-s0__direct__kv"
HARD = (0.1 + 0.2, -0.0, 5e-324, float("inf"), 87.30395838618279)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Two runs with their items."""
    return study(tmp_path, [run_rows("rope"), run_rows("alibi")]) / "demo"


def pack(folder: Path, *words: str) -> None:
    command.main([folder.name, "--results", str(folder.parent), *words])


def unpacked(folder: Path) -> None:
    """Leaves the packed files alone."""
    for name in ("rows", "items"):
        shutil.rmtree(folder / name)


def test_packed_scores_are_those_of_the_files_bit_for_bit(demo):
    extra = [{"metric": "odd", "item": str(i), "value": value} for i, value in enumerate(HARD)]
    path = demo / "items" / f"{KV}.csv"
    rows.write_items(path, [*rows.read_items(path).to_dict("records"), *extra])
    stems = [file.stem for file in sorted((demo / "items").iterdir())]
    before = [on_disk(demo)(stem)[1] for stem in stems]
    pack(demo)
    assert not (demo / "items.parquet").exists(), "nobody asked for it"
    pack(demo, "--items")
    first = (demo / "items.parquet").read_bytes()
    unpacked(demo)
    for stem, own in zip(stems, before, strict=True):
        found = on_disk(demo)(stem)[1]
        pd.testing.assert_frame_equal(found, own, check_exact=True)
        assert found["value"].to_numpy().tobytes() == own["value"].to_numpy().tobytes()
    pack(demo)  # from the packed files alone
    assert (demo / "items.parquet").read_bytes() == first


def test_series_are_paired_by_packed_scores(demo):
    [loose] = lines(demo.parent, "rope", "alibi")
    pack(demo, "--items")
    unpacked(demo)
    assert lines(demo.parent, "rope", "alibi") == [loose]
    found = extrap.compare(extrap.rows("demo", demo.parent), "rope", "alibi")
    assert found["items"].notna().any()


def test_scores_of_other_rows_are_not_used_and_not_packed(demo):
    pack(demo, "--items")
    unpacked(demo)
    newer = [row | {"commit": "newer"} for row in run_rows("rope") if row["task"] == "kv"]
    rows.write(demo / "rows" / f"{KV}.csv", newer)
    assert on_disk(demo)(KV)[1] is None
    other = KV.replace("kv", "nll")
    assert on_disk(demo)(other)[1] is not None
    pack(demo)
    (demo / "rows" / f"{KV}.csv").unlink()
    assert on_disk(demo)(KV)[1] is None and on_disk(demo)(other)[1] is not None
    packing.remove(demo, {other})
    assert not {KV, other} & {*pq.read_table(demo / "items.parquet")["sheet"].to_pylist()}


def test_a_file_of_scores_that_stayed_behind_hides_no_packed_ones(demo):
    """Its rows were packed and removed: it may be of an older training."""
    pack(demo, "--items")
    (demo / "rows" / f"{KV}.csv").unlink()
    stale = demo / "items" / f"{KV}.csv"
    shutil.copy(demo / "items" / f"{KV.replace('rope', 'alibi')}.csv", stale)
    packed = demo / "items.parquet"
    before = packed.read_bytes()
    assert on_disk(demo)(KV)[0] == packed
    pack(demo)
    assert packed.read_bytes() == before


def test_more_scores_than_a_file_holds_are_refused_before_it_is_written(demo, monkeypatch):
    scores = packed_items.loose(Sheet(demo, KV))
    most = scores.num_rows - 1
    monkeypatch.setattr("extrap.results.packed.MOST", most)
    path = demo / "items.parquet"
    with pytest.raises(UserError, match=rf"items\.parquet: {most + 1} scores; {most} are the most"):
        packed_items.write(path, {KV: ("0", scores)})
    assert not path.exists()


def test_scores_whose_mean_is_not_that_of_the_row_are_not_packed(demo):
    shutil.copy(demo / "items" / f"{KV.replace('rope', 'alibi')}.csv", demo / "items" / f"{KV}.csv")
    packing.pack(demo)
    with pytest.raises(UserError, match=rf"{KV}\.csv: does not belong to the rows beside it"):
        packing_items.pack(demo)
    assert not (demo / "items.parquet").exists()


def test_two_people_pack_the_scores_of_one_study(demo, tmp_path, capsys):
    other = study(tmp_path / "their", [run_rows("rope"), run_rows("t5")]) / "demo"
    pack(other, "--items")
    theirs = ["--add", f"{other}/rows.parquet", "--add-items", f"{other}/items.parquet"]
    pack(demo, *theirs)
    unpacked(demo)
    assert set(lines(demo.parent, "alibi", "t5")[0]) == set(lines(other.parent, "rope", "t5")[0])
    assert f"{demo}/items.parquet: " in capsys.readouterr().out
    path = other / "items" / f"{KV}.csv"
    more = rows.read_items(path).to_dict("records")
    rows.write_items(path, [*more, {"metric": "more", "item": "0", "value": 1.0}])
    pack(other)
    with pytest.raises(UserError, match=rf"has other scores of {KV}; evaluate its run again"):
        packing_items.pack(demo, [other / "items.parquet"])
    with pytest.raises(UserError, match=r"^--add-items=gone\.parquet: no such file"):
        packing_items.pack(demo, [Path("gone.parquet")])


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("value", None, "item or value is empty"),
        ("item", "", "item or value is empty"),
        ("value", float("nan"), "no packed scores .value: nan"),
        ("sheet", "../../a", "'../../a' names no sheet"),
        (None, None, "two scores at the same coordinates"),
        ("run", None, "wrong columns; columns are protocol,length,depth"),
    ],
)
def test_damaged_scores_are_refused(demo, column, value, said):
    pack(demo, "--items")
    unpacked(demo)
    path = demo / "items.parquet"
    table = pq.read_table(path)
    if column is None:
        table = pa.concat_tables([table.slice(0, 1), table])
    elif column == "run":
        table = table.rename_columns(["run", *table.column_names[1:]])
    else:
        cells = [value, *table[column].to_pylist()[1:]]
        at = table.column_names.index(column)
        table = table.set_column(at, column, pa.array(cells, type=table[column].type))
    pq.write_table(table, path, store_schema=False)
    with pytest.raises(UserError, match=rf"items\.parquet: .*{said}"):
        on_disk(demo)(KV)
