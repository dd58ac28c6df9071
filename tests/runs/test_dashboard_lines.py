"""What a workspace of W&B draws of every committed study is what its tables say, by rows alone."""

import json
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from extrap.results import rows
from extrap.results.places import place
from extrap.results.summary import ACCURACIES, FAR, PROTOCOLS, summary
from extrap.runs.dashboard import study as shown_study
from extrap.runs.dashboard import workspace
from extrap.runs.dashboard.series_table import BELOW, COLUMNS, PASSED

ROOT = Path(__file__).parents[2]
STUDIES = rows.studies(ROOT / "results")
ONE = ["data", "extension", "train_length", "params", "scheme"]
"""Columns that a line has one value of."""


read = cache(shown_study.read)
"""The study as it is shown, read once for all tests of a process."""


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.turns
@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("study", STUDIES)
def test_a_line_is_a_series_of_the_table_and_its_mean_is_the_mean_there(study):
    shown = read(study)
    table = summary(rows.read(place(Path("results"), study)))
    groups = defaultdict(list)
    for page, own in shown.pages:
        assert page.config["series"] == page.series
        groups[page.series] += [row for some in own.values() for row in some]
    assert (
        set(groups)
        == set(table.index)
        == {line["series"] for line in shown.lines} | {s.label for s in shown.series}
    )
    for own in groups.values():
        assert mixed(rows.frame(own)) == []
    compared = 0
    of_kv = {s.label: s.rows[s.rows["task"] == "kv"] for s in shown.series}
    trained = {label for label, own in of_kv.items() if "ok" in set(own["mark"])}
    length = {s.label: int(s.rows["train_length"].iloc[0]) for s in shown.series}
    for line in shown.lines:
        label = line["series"]
        multiple = line["x"] / length[label]
        if line["kind"] != "length" or (line["gate"] == BELOW and label in trained):
            continue
        if line["task"] == "nll" and line["protocol"] in PROTOCOLS and multiple in FAR:
            name = f"{line['protocol']} {multiple:g}x"
        elif (line["task"], line["metric"]) == ("kv", "accuracy") and multiple in (1, 2, 4):
            name = f"{'mean' if line['protocol'] == 'records' else line['protocol']} {multiple:g}x"
        else:
            continue
        if name in table:
            assert line["mean"] == pytest.approx(table.loc[label, name], rel=1e-12)
            compared += 1
    cells = [f"{p} {m}x" for p in PROTOCOLS for m in FAR]
    cells += [f"{what} {m}x" for what in ("mean", "padded") for m in ACCURACIES[what]]
    several = max(s.rows["length"].nunique() for s in shown.series) > 1  # one length is no line
    assert compared == several * table.reindex(columns=cells).notna().to_numpy().sum()


def mixed(own: pd.DataFrame) -> list[str]:
    """Columns that some rows of a line differ in. A factor that follows the text is one method: it
    has one value at a length.
    """
    found = [name for name in ONE if len(set(own[name].dropna())) > 1]
    factors = own.groupby(["task", "protocol", "length"], dropna=False)["factor"].nunique()
    return found + ["factor"] * any(count > 1 for count in factors.tolist())


@pytest.mark.turns
@pytest.mark.filterwarnings(
    "ignore:Pydantic V1 style:DeprecationWarning"
)  # of wandb_workspaces itself
@pytest.mark.parametrize("study", ["reference-scale", "tasks-alone", "extension"])
def test_panels_choose_lines_of_the_table_and_no_two_of_a_section_are_alike(study):
    pytest.importorskip("wandb_workspaces", reason="the extra `dashboard` is not installed")
    shown = read(study)
    built = workspace.workspace(shown, "extrap", "me")
    said = workspace.specification(built)["spec"]["section"]
    drawn, names = set(), dict(zip(workspace.TITLES, workspace.charts(), strict=True))
    sections = said["panelBankConfig"]["sections"]
    for section in sections:
        charts = [panel["config"] for panel in section["panels"] if panel["viewType"] == "Vega2"]
        places = [tuple(c["stringSettings"][name] for name in workspace.CHOSEN) for c in charts]
        assert len(set(places)) == len(places)
        drawn |= set(places)
        for chart in charts:
            kind = chart["stringSettings"]["kind"]
            assert chart["panelDefId"] == f"me/{names[kind]}"
            assert set(chart["fieldSettings"]) == set(COLUMNS)
            gate = chart["stringSettings"]["gate"]
            assert (gate == BELOW) == (BELOW in section["name"])
            assert chart["stringSettings"]["part"] in section["name"]
    there = {tuple(line[name] for name in workspace.CHOSEN) for line in shown.lines}
    assert drawn <= there
    assert drawn >= {place for place in there if "effective" not in place}
    parts = set(shown.parts.values())
    several = [section["name"] for section in sections if section["name"].startswith("By length")]
    assert len(parts) == (5 if study == "reference-scale" else 1) <= len(several)
    runs = said["runSets"][0]
    assert runs["grouping"] == [{"section": "config", "name": "series.value"}]
    assert len(said["customRunColors"]) == len(shown.series)
    assert set(said["customRunColors"].values()) <= set(shown.colours.values())
    assert said["settings"]["maxRuns"] == len(shown.pages) + 1
    pinned = {name for name in runs["runFeed"]["columnPinned"] if name.startswith("summary:")}
    logged = {f"summary:series/{name}" for page in shown.jobs for name in page.best}
    assert pinned == logged
    assert json.dumps(runs["filters"]).count(study) == 1


@pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning")
def test_a_workspace_of_several_studies_shows_the_pages_of_each():
    pytest.importorskip("wandb_workspaces", reason="the extra `dashboard` is not installed")
    shown = replace(read("demo"), name="demo-other")
    said = workspace.specification(workspace.workspace(shown, "extrap", "me"))["spec"]["section"]
    (only,) = said["runSets"][0]["filters"]["filters"]
    assert {page.config["study"] for page in (shown.page, *shown.jobs)} == {*only["value"]}


def test_seeds_below_the_gate_are_no_part_of_a_line_above_it():
    shown = read("tasks-alone")
    found = {
        (s.label, task, protocol): set(own["mark"] == "ok")
        for s in shown.series
        for task, of_task in s.rows.groupby("task")
        for protocol, own in of_task.groupby("protocol")
    }
    for line in shown.lines:
        assert (line["gate"] == PASSED) in found[line["series"], line["task"], line["protocol"]]
    page = next(page for page in shown.jobs if not all(page.trained.values()))
    shown_as = {f"trained/{task}": page.trained[task] for task in page.tasks}
    assert shown_as.items() <= page.config.items()


def test_a_censored_effective_length_keeps_its_sign():
    """ALiBi of the study reads to its longest text, RoPE does not."""
    shown = read("demo")
    of = {line["series"]: line for line in shown.lines if line["kind"] == "effective"}
    reached = {label: line["bound"] for label, line in of.items() if line["task"] == "kv"}
    assert set(reached.values()) == {">=", ""} and reached["rope"] == ""
    name = "effective length is a lower bound"
    bounds = {label for label, best in shown.best.items() if name in best}
    effective = [of for of in shown.lines if (of["task"], of["protocol"]) == shown.place]
    assert bounds == {line["series"] for line in effective if line["bound"]}


def test_a_study_of_losses_has_the_lowest_perplexity_first():
    best = {"a": {"perplexity at 4 L": 900.0}, "b": {"perplexity at 4 L": 3.0}, "c": {}}
    study = SimpleNamespace(ranked=["perplexity at 4 L"], best=best)
    assert [line[0] for line in workspace._leaderboard(study)[1:]] == ["b", "a", "c"]
    study = SimpleNamespace(ranked=["found"], best={"a": {"found": 0.1}, "b": {"found": 0.9}})
    assert [line[0] for line in workspace._leaderboard(study)[1:]] == ["b", "a"]
