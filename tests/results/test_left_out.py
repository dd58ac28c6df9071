"""Rows that packing leaves out: what the rules name, and no more."""

from pathlib import Path

import pandas as pd
import pytest

from extrap.results import left_out, packing, rows
from extrap.utils.errors import UserError

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


def packed(study: Path) -> pd.DataFrame:
    """Packs a study and returns what a clone of it reads."""
    packing.pack(study)
    for path in (study / "rows").iterdir():
        path.unlink()
    return rows.read_with_sheets(study)


def test_rules_name_values_lists_and_any(results):
    study = declare(results, "- {metric: [format, mid]}\n- {task: diagnostics, head: any}\n")
    found = packed(study)
    assert "format" not in set(found["metric"])
    assert found[found["task"] == "diagnostics"]["head"].isna().tolist() == [True]
    assert len(found) == len(CURVE) + 2


def test_between_keeps_multiples_and_the_end(results):
    study = declare(results, "- {task: train, axis: step, between: 100}\n")
    assert packed(study).query("task == 'train'")["at"].tolist() == [0.0, 100.0, 175.0]


def test_a_sheet_of_which_nothing_is_kept_goes(results):
    study = declare(results, "- {task: kv}\n")
    assert "rope-s0__direct__kv" not in {*packed(study)["sheet"]}


def test_the_files_of_jobs_stay_and_count_as_packed(results):
    study = declare(results, "- {metric: format}\n")
    before = {path: path.read_bytes() for path in (study / "rows").iterdir()}
    assert packing.pack(study) == len(rows.read(study)) == len(CURVE) + 3
    assert {path: path.read_bytes() for path in (study / "rows").iterdir()} == before


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


COMMITTED = sorted((Path(__file__).parents[2] / "results").rglob(left_out.FILE))


@pytest.mark.parametrize("file", COMMITTED, ids=[file.parent.name for file in COMMITTED])
def test_the_rules_of_a_study_name_the_command_that_keeps_them(file):
    head = file.read_text().splitlines()[0]
    assert head.endswith(f"extrap pack {file.parent.name}")
