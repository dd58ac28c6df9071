"""Rows that are left out of git: what the rules name, no more, and none of them committed."""

from pathlib import Path

import pytest

from extrap.cli import thin as command
from extrap.results import left_out, rows
from extrap.results.places import having, place
from extrap.utils.errors import UserError

RESULTS = Path(__file__).resolve().parents[2] / "results"
THINNED = [folder.name for folder in having(RESULTS, left_out.FILE)]
RUN = {"run": "rope-s0", "study": "mine", "scheme": "rope", "data": "text", "extension": "direct"}
RUN |= {"seed": 0, "train_length": 64, "config": "c"}


def row(task: str, metric: str, **more) -> dict:
    return RUN | {"task": task, "metric": metric, "value": 1.0, "status": "ok"} | more


CURVE = [row("train", "nll", axis="step", at=float(step)) for step in (0, 50, 100, 150, 175)]
ANSWERS = [row("kv", "accuracy", depth=0.0), row("kv", "format", depth=0.0)]
SINKS = [row("diagnostics", "sink", layer=0), row("diagnostics", "sink", layer=0, head=1)]


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "mine" / "rows"
    folder.mkdir(parents=True)
    for name, found in (("train", CURVE), ("kv", ANSWERS), ("diagnostics", SINKS)):
        rows.write(folder / f"rope-s0__direct__{name}.csv", found)
    return tmp_path


def declare(results: Path, text: str) -> Path:
    (results / "mine" / left_out.FILE).write_text(text)
    return results / "mine"


def test_rules_name_values_lists_and_any(results):
    study = declare(results, "- {metric: [format, mid]}\n- {task: diagnostics, head: any}\n")
    assert left_out.thin(study) == 2
    found = rows.read(study)
    assert "format" not in set(found["metric"])
    assert found[found["task"] == "diagnostics"]["head"].isna().tolist() == [True]
    assert len(found) == len(CURVE) + 2


def test_between_keeps_multiples_and_the_end(results):
    study = declare(results, "- {task: train, axis: step, between: 100}\n")
    left_out.thin(study)
    assert rows.read(study).query("task == 'train'")["at"].tolist() == [0.0, 100.0, 175.0]


def test_what_is_kept_is_written_as_it_was(results):
    study = declare(results, "- {metric: format}\n")
    untouched = study / "rows" / "rope-s0__direct__train.csv"
    before = untouched.read_bytes()
    left_out.thin(study)
    assert untouched.read_bytes() == before
    again = [file.read_bytes() for file in rows.files(study)]
    assert left_out.thin(study) == 0
    assert [file.read_bytes() for file in rows.files(study)] == again


def test_a_file_of_which_nothing_is_kept_goes(results):
    study = declare(results, "- {task: kv}\n")
    left_out.thin(study)
    assert not (study / "rows" / "rope-s0__direct__kv.csv").exists()


@pytest.mark.parametrize(
    "text, said",
    [
        ("metric: format\n", "expected a list of rules"),
        ("- [1\n", "line 1 is not YAML"),
        ("- format\n", "rule 1: expected columns and their values"),
        ("- {between: 5}\n", "rule 1: expected columns and their values"),
        ("- {metric: format}\n- {metrics: format}\n", "rule 2: metrics: no column; there are run"),
        ("- {task: train, between: 0}\n", "rule 1: between=0: expected a whole number from 1"),
    ],
)
def test_a_damaged_rule_is_named(results, text, said):
    with pytest.raises(UserError, match=said.replace("[", r"\[")):
        left_out.rules(declare(results, text))


def test_the_command_counts_and_asks_for_rules(results, capsys):
    words = ["mine", "--results", str(results)]
    with pytest.raises(SystemExit, match="2"):
        command.main(words)
    assert "left_out.yaml: holds no rules; write which rows" in capsys.readouterr().err
    declare(results, "- {metric: format}\n")
    command.main(words)
    assert capsys.readouterr().out == "mine: 1 rows left out\n"


@pytest.mark.sample(6)
@pytest.mark.parametrize("study", THINNED)
def test_no_committed_row_is_one_that_is_left_out(study):
    """A row that a rule names was forgotten; a rule that names a drawn row would go unnoticed."""
    folder = place(RESULTS, study)
    known = left_out.rules(folder)
    for file in sorted((folder / "rows").glob("*.csv")):
        assert not left_out.left(rows.read_files([file]), known).any(), file.name
