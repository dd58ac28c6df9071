"""`extrap table`: what it prints and what its JSON holds is the summary of the rows."""

import json
from pathlib import Path

import pytest

from extrap.cli import table
from extrap.results import rows
from extrap.results.places import place
from extrap.results.rows import read
from extrap.results.summary import reach, summary
from tests.support.plausible import control_rows, study_rows

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def results(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", study_rows() + control_rows())
    return tmp_path


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


def test_the_table_has_the_effective_length_of_every_task_with_its_interval(results, capsys):
    table.main(["demo", "--results", str(results)])
    _, _, section = capsys.readouterr().out.partition("Effective length in tokens")
    _, head, *lines = section.partition("\n\n")[0].splitlines()
    assert head.split() == ["series", "kv", "padded", "kv", "records"]
    found = reach(read(results / "demo")).loc["t5", "kv records"]
    (line,) = (line for line in lines if line.startswith("t5 "))
    assert line.endswith(f"{found.tokens:.0f} [{found.low:.0f}, {found.high:.0f}]")


def test_the_tests_in_plain_text_are_told_by_place(capsys):
    table.main(["within", "--results", str(RESULTS)])
    line = next(x for x in capsys.readouterr().out.splitlines() if "multidoc-qa last, 5" in x)
    own = read(place(RESULTS, "within"))
    five = own[(own["metric"] == "accuracy") & (own["at"] == 5)].sort_values("depth")
    assert line.split()[-3:] == [f"{value:.2f}".removeprefix("0") for value in five["value"]]
