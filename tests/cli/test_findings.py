"""`extrap findings`: verdicts in the terminal, in JSON and in results/README.md."""

import json
from pathlib import Path

import pytest

from extrap.cli import findings

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.mark.turns
def test_the_table_of_findings_is_that_of_the_rows():
    """Written by `make tables`."""
    assert findings.written(RESULTS) == (RESULTS / "README.md").read_text()


def test_the_terminal_and_json_say_the_same(capsys):
    findings.main(["zoo-misses", "--results", str(RESULTS)])
    said = capsys.readouterr().out
    findings.main(["zoo-misses", "--results", str(RESULTS), "--json"])
    told = json.loads(capsys.readouterr().out)["statements"]
    lines = said.splitlines()
    assert [line.split()[0] for line in lines[1 : len(told) + 1]] == [
        one["verdict"] for one in told
    ]
    assert all(f"{one['effect']:.3f}" in lines[i + 1] for i, one in enumerate(told))


@pytest.mark.parametrize("words, said", [(["none"], "STUDY=none"), ([], "STUDY: missing")])
def test_a_mistake_is_one_line_that_lists_the_studies(words, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        findings.main([*words, "--results", str(RESULTS)])
    told = capsys.readouterr().err
    assert told.startswith(f"extrap findings: {said}") and "extension" in told
    assert told.count("\n") == 1


def test_a_readme_without_a_place_for_tables_is_left_alone(tmp_path, capsys):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(SystemExit, match="2"):
        findings.main(["--write", "--results", str(tmp_path)])
    assert (tmp_path / "README.md").read_text() == "mine"
    assert "<!-- findings -->" in capsys.readouterr().err
