"""`extrap table STUDY --beside SCHEME`: every series minus one of them, trained in the same way."""

import json
from pathlib import Path

import numpy as np
import pytest

from extrap.cli import table
from extrap.results import rows
from extrap.results.rows import read
from extrap.results.summary import against, reach, summary
from tests.support.plausible import control_rows, study_rows


@pytest.fixture
def results(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", study_rows() + control_rows())
    return tmp_path


def test_differences_are_those_of_the_summary():
    rows = read(Path(__file__).parents[2] / "results" / "demo")
    found, whole = against(rows, "rope"), summary(rows)
    assert set(found.index) == set(whole.index)
    assert found.loc["rope", ["loss +", "accuracy +"]].tolist() == [0, 0]
    assert (
        found.loc["alibi", "accuracy +"]
        == whole.loc["alibi", "mean 1x"] - whole.loc["rope", "mean 1x"]
    )
    assert (
        found.loc["alibi", "loss +"]
        == whole.loc["alibi", "trained retrieval"] - whole.loc["rope", "trained retrieval"]
    )
    ranked = found["accuracy"].dropna().to_numpy()
    assert (np.diff(ranked) <= 0).all() and len(set(ranked)) > 1


def test_the_table_names_what_it_compares_with(results, capsys):
    table.main(["demo", "--results", str(results), "--beside", "rope"])
    assert "accuracy - rope" in capsys.readouterr().out


def test_json_holds_what_the_table_shows(results, capsys):
    table.main(["demo", "--results", str(results), "--json"])
    found = json.loads(capsys.readouterr().out)
    expected = summary(read(results / "demo"))
    assert list(found["series"]) == list(expected.index)
    rope = found["series"]["rope"]
    assert rope["mean 4x"] == pytest.approx(expected.loc["rope", "mean 4x"])
    lengths = reach(read(results / "demo"))
    assert found["effective"]["rope"] == {
        place: dict(length._asdict()) for place, length in lengths.loc["rope"].items()
    }
    assert set(lengths.columns) == {"kv padded", "kv records"} and "nope" not in lengths.index
    assert found["series"]["learned"]["nonoverlap 2x"] is None
    table.main(["demo", "--results", str(results), "--json", "--beside", "rope"])
    assert json.loads(capsys.readouterr().out)["series"]["rope"]["accuracy +"] == 0


def test_the_table_has_the_effective_length_of_every_task_with_its_interval(results, capsys):
    table.main(["demo", "--results", str(results)])
    _, _, section = capsys.readouterr().out.partition("Effective length in tokens")
    _, head, *lines = section.partition("\n\n")[0].splitlines()
    assert head.split() == ["series", "kv", "padded", "kv", "records"]
    found = reach(read(results / "demo")).loc["t5", "kv records"]
    (line,) = (line for line in lines if line.startswith("t5 "))
    assert line.endswith(f"{found.tokens:.0f} [{found.low:.0f}, {found.high:.0f}]")
