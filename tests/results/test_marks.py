"""Marks of packed sheets and of loose ones equal what their rows say."""

import shutil
from pathlib import Path

from extrap.results import packed
from extrap.results.marks import Mark, Marks
from extrap.results.places import PACKED
from extrap.results.schema import ROWS
from extrap.results.sheets import sheets

DEMO = Path(__file__).parents[2] / "results" / "demo"


def test_packed_and_loose_sheets_have_the_marks_of_their_rows(tmp_path):
    rows = {sheet.name: sheet.records() for sheet in sheets(DEMO)}
    packed.write(
        tmp_path / PACKED, {n: ("d", own) for n, own in rows.items()} | {"z__a__t": ("", [])}
    )
    marks = Marks(tmp_path)
    for name, own in rows.items():
        ends = frozenset((row["status"], row["data"]) for row in own)
        assert marks.of(name) == Mark(own[0]["config"], ends)
    assert marks.of("z__a__t") == Mark("", frozenset())
    assert marks.of("absent") is None
    first, other, *_ = rows
    diverged = [row | {"status": "diverged", "config": "c"} for row in rows[first]]
    ROWS.write(tmp_path / "rows" / f"{first}.csv", diverged)
    (tmp_path / "rows" / f"{other}.csv").mkdir()
    marks = Marks(tmp_path)
    assert marks.of(first) == Mark("c", frozenset({("diverged", diverged[0]["data"])}))
    assert marks.of(other) is None, "a folder is no sheet"
    shutil.rmtree(tmp_path / "rows")
    (tmp_path / PACKED).unlink()
    assert Marks(tmp_path).of(first) is None
