"""Packed rows: the same values as the files of jobs, read together with them, merged from two
people, and refused if damaged.
"""

import subprocess
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from extrap.cli import pack as command
from extrap.cli import rows as printed
from extrap.cli import table
from extrap.results import left_out, packed, packing, rows
from extrap.results.places import place, with_rows
from extrap.results.sheets import Sheet
from extrap.utils.errors import UserError
from tests.support.plausible import run_rows

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
COMMITTED = [folder.name for folder in with_rows(RESULTS)]


@pytest.fixture
def study(tmp_path):
    """Two runs, and a file without rows."""
    folder = tmp_path / "mine"
    for scheme in ("rope", "alibi"):
        rows.write(folder / "rows" / f"{scheme}-s0__direct__kv.csv", run_rows(scheme))
    rows.write(folder / "rows" / "alibi-s0__direct__rotary.csv", [])
    return folder


def unpacked(study: Path) -> None:
    """Leaves the packed rows alone."""
    for path in (study / "rows").iterdir():
        path.unlink()


def test_packed_rows_are_those_of_the_files(study):
    before = rows.read_with_sheets(study)
    assert packing.pack(study) == len(before)
    first = (study / "rows.parquet").read_bytes()
    pd.testing.assert_frame_equal(rows.read_with_sheets(study), before, check_exact=True)
    unpacked(study)
    pd.testing.assert_frame_equal(rows.read_with_sheets(study), before, check_exact=True)
    empty = Sheet(study, "alibi-s0__direct__rotary")
    assert empty.exists() and empty.records() == []
    packing.pack(study)  # from the packed file alone
    assert (study / "rows.parquet").read_bytes() == first


def test_a_study_of_which_all_rows_are_left_out_has_no_packed_file(study):
    packing.pack(study)
    (study / left_out.FILE).write_text("- {run: any}\n")
    packing.remove(study, {"alibi-s0__direct__rotary"})
    (study / "rows" / "alibi-s0__direct__rotary.csv").unlink()
    assert packing.pack(study) == 0
    assert not (study / "rows.parquet").exists()


def test_a_newer_file_hides_its_packed_sheet(study):
    packing.pack(study)
    newer = [row | {"value": 0.25} for row in run_rows("rope")]
    rows.write(study / "rows" / "rope-s0__direct__kv.csv", newer)
    found = rows.read(study)
    assert (found.query("scheme == 'rope'")["value"] == 0.25).all()
    assert len(found) == len(newer) + len(run_rows("alibi"))
    packing.pack(study)
    unpacked(study)
    pd.testing.assert_frame_equal(rows.read(study), found)


def test_a_line_names_the_files_that_hide_packed_rows(study, capsys):
    command.main(["mine", "--results", str(study.parent)])
    table.main(["mine", "--results", str(study.parent)])
    assert "hide" not in capsys.readouterr().err
    older = [row | {"value": 0.25} for row in run_rows("rope")]
    rows.write(study / "rows" / "rope-s0__direct__kv.csv", older)
    said = "1 sheet in rows/ hides a packed one: rope-s0__direct__kv; delete sheets"
    for one in (table, command):
        one.main(["mine", "--results", str(study.parent)])
        assert said in capsys.readouterr().err


def test_two_rows_at_one_place_name_both_files(study):
    packing.pack(study)
    rows.write(study / "rows" / "again-s0__direct__kv.csv", run_rows("rope"))
    same = r"rope-s0__direct__kv\.csv: the same coordinates and metric as again-s0__direct__kv"
    with pytest.raises(UserError, match=same):
        rows.read(study)


def test_two_people_pack_one_study(study, tmp_path):
    other = tmp_path / "theirs"
    rows.write(other / "rows" / "rope-s0__direct__kv.csv", run_rows("rope"))
    rows.write(other / "rows" / "t5-s0__direct__kv.csv", run_rows("t5"))
    packing.pack(other)
    third = tmp_path / "third"
    rows.write(third / "rows" / "nope-s0__direct__kv.csv", run_rows("nope"))
    packing.pack(third)
    both = [word for one in (other, third) for word in ("--add", str(one / "rows.parquet"))]
    command.main(["mine", "--results", str(tmp_path), *both])
    unpacked(study)
    assert {*rows.read(study)["scheme"]} == {"rope", "alibi", "t5", "nope"}
    changed = [row | {"value": 0.5} for row in run_rows("t5")]
    rows.write(other / "rows" / "t5-s0__direct__kv.csv", changed)
    packing.pack(other)
    with pytest.raises(UserError, match="has other rows of t5-s0__direct__kv; evaluate its run"):
        packing.pack(study, [other / "rows.parquet"])


def test_rows_of_another_study_are_not_packed(study, tmp_path):
    packing.pack(study)
    before = (study / "rows.parquet").read_bytes()
    foreign = [row | {"study": "zoo"} for row in run_rows("t5")]
    rows.write(tmp_path / "zoo" / "rows" / "t5-s0__direct__kv.csv", foreign)
    packing.pack(tmp_path / "zoo")
    name = run_rows("rope")[0]["study"]
    with pytest.raises(UserError, match=f": rows of study zoo, and this is {name}; "):
        packing.pack(study, [tmp_path / "zoo" / "rows.parquet"])
    assert (study / "rows.parquet").read_bytes() == before


def changed(study: Path, **columns) -> None:
    """Writes packed rows with other columns."""
    path = study / "rows.parquet"
    table = pq.read_table(path)
    for name, value in columns.items():
        at = table.schema.get_field_index(name)
        cells = [value, *table[name].to_pylist()[1:]]
        table = table.set_column(at, name, pa.array(cells, type=table[name].type))
    pq.write_table(table, path, store_schema=False)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"status": "fine"}, "row 0: status: 'fine' is none of ok"),
        ({"seed": None}, "row 0: seed is empty"),
        ({"value": None}, "row 0: value is empty"),
        ({"value": float("nan")}, "value: nan, where a missing number is empty"),
        ({"low": 2.0, "high": 1.0}, "row 0: low 2.0 lies above high 1.0"),
        ({"run": "\x1b[2J"}, "holds unprintable characters"),
        ({"run": None}, "run: a text is missing"),
        ({"scheme": "x" * 5000}, "scheme: a text of 5000 characters"),
        ({"sheet": "../../a"}, "'../../a' names no sheet"),
    ],
)
def test_damaged_cells_are_named(study, columns, said):
    packing.pack(study)
    changed(study, **columns)
    with pytest.raises(UserError) as error:
        rows.read(study)
    assert said in str(error.value) and "rows.parquet" in str(error.value)


def test_other_files_are_no_packed_rows(study, monkeypatch):
    path = study / "rows.parquet"
    for content in (b"", b"PAR1", b"\0" * 4096):
        path.write_bytes(content)
        with pytest.raises(UserError, match="no packed rows"):
            rows.read(study)
    pq.write_table(pa.table({"run": ["a"]}), path)
    with pytest.raises(UserError, match=r"wrong columns; columns are run,study"):
        rows.read(study)
    path.unlink()
    packing.pack(study)
    pq.write_table(pq.read_table(path).slice(0, 0), path, store_schema=False)
    with pytest.raises(UserError, match=r"rows\.parquet: no packed rows .the file is without any"):
        rows.read(study)
    path.unlink()
    packing.pack(study)
    monkeypatch.setattr(packed, "MOST", 5)
    with pytest.raises(UserError, match="rows; 5 are the most"):
        packed.read(path)


def test_rows_are_printed_by_value(study, capsys):
    printed.main(["mine", "--results", str(study.parent), "--where", "scheme=rope", "length=64,"])
    lines = capsys.readouterr().out.splitlines()
    found = rows.read(study).query("scheme == 'rope'")
    expected = found["length"].isna() | (found["length"] == 64)
    assert lines[0].startswith("run,study,scheme") and len(lines) == 1 + expected.sum()
    twice = ["--where", "scheme=rope", "--where", "length=64,"]
    printed.main(["mine", "--results", str(study.parent), *twice, "--csv"])
    assert capsys.readouterr().out.splitlines() == lines
    for word, said in (
        ("sheme=rope", "--where=sheme=rope: no such column; did you mean scheme? "),
        ("length=a", "expected a number"),
        ("scheme", "--where=scheme: not of the form column=value; give a value, as in scheme=..."),
        ("scheme=rope,ropee", "--where=scheme=ropee: no such value; did you mean rope? choose"),
    ):
        with pytest.raises(SystemExit, match="2"):
            printed.main(["mine", "--results", str(study.parent), "--where", word])
        assert said in capsys.readouterr().err


def test_rows_of_an_extension_with_an_option_are_printed(tmp_path, capsys):
    near = [row | {"extension": "rerope,width=16"} for row in run_rows("rope")]
    rows.write(tmp_path / "s" / "rows" / "a.csv", run_rows("rope") + near)
    where = ["--where", "extension=rerope,width=16,direct", "task=nll"]
    printed.main(["s", "--results", str(tmp_path), *where])
    found = sum(row["task"] == "nll" for row in run_rows("rope") + near)
    assert len(capsys.readouterr().out.splitlines()) == 1 + found


@pytest.mark.sample(6)
@pytest.mark.parametrize("study", COMMITTED)
def test_committed_rows_are_packed(study):
    """Git keeps one file a study, without a row that left_out.yaml names."""
    folder = place(RESULTS, study)
    found = packed.read(folder / "rows.parquet")
    assert found is not None, f"extrap pack {study}"
    rules = left_out.rules(folder)
    assert not left_out.left(found.frame(), rules).any()
    ignored = ["git", "check-ignore", "-q", f"{folder}/rows/a.csv"]
    assert subprocess.run(ignored, cwd=ROOT, check=False).returncode == 0
