"""Where studies lie: in results, or in the folder of the study that they are a part of."""

from pathlib import Path

import pytest

from extrap.results.places import place, root, with_rows
from extrap.results.rows import open_study, studies, write
from extrap.runs.layout import ResultFile, of_rows
from tests.support.plausible import run_rows


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A study with a part; rows of the same run in both."""
    monkeypatch.chdir(tmp_path)
    for folder in ("whole", "whole/part"):
        write(Path("results", folder, "rows", "rope-s0__direct__kv.csv"), run_rows("rope"))
    return Path("results")


def test_a_part_is_a_study_of_its_own(results):
    assert studies(results) == ["part", "whole"]
    assert place(results, "part") == results / "whole" / "part"
    assert place(results, "whole") == results / "whole"
    assert {root(place(results, study)) for study in ("part", "whole")} == {results}
    assert len(open_study(results, "part")) == len(open_study(results, "whole"))
    assert [folder.name for folder in with_rows(results)] == ["part", "whole"]


def test_a_part_goes_on_where_its_rows_lie(results):
    file = ResultFile("part", "rope-s0", "direct", "kv")
    assert file.rows == results / "whole" / "part" / "rows" / "rope-s0__direct__kv.csv"
    assert of_rows(file.sheet) == file
    assert file.items.parent == results / "whole" / "part" / "items"


def test_a_new_study_lies_in_results(results):
    for name in ("new", "rows", "figures", "items"):
        assert place(results, name) == results / name
    (results / "part").mkdir()
    assert place(results, "part") == results / "whole" / "part", "an empty folder is no study"


def test_a_link_is_no_whole(results, tmp_path):
    (tmp_path / "away" / "other" / "rows").mkdir(parents=True)
    (results / "linked").symlink_to(tmp_path / "away")
    assert place(results, "other") == results / "other"
