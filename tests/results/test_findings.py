"""Statements: what was declared stands as it was declared."""

import hashlib
import json
from pathlib import Path

import pytest
import yaml

from extrap.cli.experiments import experiments
from extrap.results.findings.statement import FILE, read
from extrap.results.places import having, place
from extrap.utils.errors import UserError

RESULTS = Path(__file__).resolve().parents[2] / "results"
CONF = RESULTS.parent / "conf" / "experiment"
DECLARED = json.loads((Path(__file__).parent / "declared.json").read_text())
GRIDS = json.loads((Path(__file__).parent / "grids.json").read_text())
STATEMENTS = [folder.name for folder in having(RESULTS, FILE)]


@pytest.mark.parametrize("study", sorted({*DECLARED, *STATEMENTS}))
def test_what_was_declared_stands_as_it_was_declared(study):
    """A statement is never edited or removed once its study has rows: a better one follows it."""
    found = {statement.id: statement.digest for statement in read(place(RESULTS, study))}
    assert found == DECLARED[study]


def grid(study: str) -> str:
    """Returns a hash of what the experiments of a study run: their options and their grids."""
    found = []
    for name in experiments(study):
        options = yaml.safe_load((CONF / f"{name}.yaml").read_text())
        sweep = options.pop("sweep", None)
        found.append([name, {"options": options, "sweep": sweep}])
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("study", sorted({*GRIDS, *STATEMENTS}))
def test_a_study_that_was_declared_is_run_as_it_was_declared(study):
    """A grid that changes after its statements is another study: it changes here, too, with the
    reason in findings.yaml. Today's were taken on 2026-11-24, after the rows.
    """
    assert grid(study) == GRIDS.get(study)


GOOD = """
statements:
- id: one
  says: RoPE finds less than half.
  source: arXiv 2306.15595
  rows: {task: kv, scheme: rope}
  terms: [{}]
  below: 0.5
"""


def written(folder: Path, text: str) -> Path:
    (folder / FILE).write_text(text)
    return folder


def test_a_remark_is_no_part_of_what_was_declared(tmp_path):
    before = read(written(tmp_path, GOOD))[0]
    after = read(written(tmp_path, GOOD + "  note: seen since\n  badly_put: two\n"))[0]
    assert before.digest == after.digest
    assert (after.note, after.badly_put) == ("seen since", "two")


@pytest.mark.parametrize(
    "text, said",
    [
        ("statements: {", "line 1 is not YAML"),
        ("statements: 3", "statements"),
        (GOOD.replace("id: one", "id: 3"), "id"),
        (GOOD.replace("says:", "say:"), "says"),
        (GOOD.replace("  below: 0.5", ""), "above"),
        (GOOD + "  above: 1\n", "above"),
        (GOOD.replace("0.5", "half"), "above"),
        (GOOD.replace("task:", "tasks:"), "tasks"),
        (GOOD + "  statistic: mode\n", "statistic=mode"),
        (GOOD + "  over: scheme\n", "over"),
        (GOOD + "  across: mode\n", "across=mode"),
        (GOOD + "  across: deviation\n  statistic: lowest\n  over: scheme\n", "across=deviation"),
        (GOOD + "  seen: 1\n", "seen"),
        (GOOD.replace("scheme: rope", "scheme: [[rope]]"), "scheme"),
        (GOOD.replace("scheme: rope", "scheme: {a: b}"), "scheme"),
        (GOOD.replace("[{}]", "[{times: many}]"), "times"),
        (GOOD + GOOD.replace("\nstatements:\n", ""), "twice"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_field(tmp_path, text, said):
    with pytest.raises(UserError, match=said) as error:
        read(written(tmp_path, text))
    assert "\n" not in str(error.value)


def test_a_twin_is_named_and_no_part_of_what_was_declared(tmp_path):
    before = read(written(tmp_path, GOOD))[0]
    second = GOOD.replace("id: one", "id: two").replace("\nstatements:", "")
    both = read(written(tmp_path, GOOD + "  twin: two\n  learned: false\n" + second))
    assert both[0].twin == "two" and both[0].digest == before.digest
    with pytest.raises(UserError, match="one: twin=three: no such"):
        read(written(tmp_path, GOOD + "  twin: three\n"))


def test_a_study_without_statements_says_so(tmp_path):
    with pytest.raises(UserError, match="declare"):
        read(tmp_path)
