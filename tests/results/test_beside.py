"""`extrap-table STUDY --beside SCHEME`: every series minus one of them, trained in the same way."""

from pathlib import Path

import numpy as np
import pytest

from extrap.results import rows
from extrap.cli import table
from extrap.results.baseline import beside
from extrap.results.rows import read
from extrap.results.summary import summary
from tests.results.plausible import control_rows, study_rows


@pytest.fixture
def results(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", study_rows() + control_rows())
    return tmp_path


def test_differences_are_those_of_the_summary():
    rows = read(Path(__file__).parents[2] / "results" / "demo")
    found, whole = beside(rows, "rope"), summary(rows)
    assert set(found.index) == set(whole.index)
    assert found.loc["rope", ["loss +", "accuracy +"]].tolist() == [0, 0]
    assert found.loc["alibi", "accuracy +"] == whole.loc["alibi", "mean 1x"] - whole.loc["rope", "mean 1x"]
    assert found.loc["alibi", "loss +"] == whole.loc["alibi", "trained retrieval"] - whole.loc["rope", "trained retrieval"]
    ranked = found["accuracy"].dropna().to_numpy()
    assert (np.diff(ranked) <= 0).all() and len(set(ranked)) > 1


def test_the_table_names_what_it_compares_with(results, capsys):
    table.main(["demo", "--results", str(results), "--beside", "rope"])
    assert "accuracy - rope" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        table.main(["demo", "--results", str(results), "--beside", "rop"])
    assert capsys.readouterr().err.startswith("extrap-table: --beside rop: not among the schemes of this study: alibi, ")
