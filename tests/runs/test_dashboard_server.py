"""`extrap dashboard` with a server that takes what it sends: every page, the workspace and the
report are there, and hold what the rows hold; and with servers that refuse.
"""

import json
import sys
from pathlib import Path

import pytest

from extrap.cli import dashboard as command
from extrap.runs.dashboard import view, workspace
from extrap.runs.dashboard.study import Study
from tests.support.wandb_server import ENTITY, Kept, serving, started

pytestmark = pytest.mark.subprocess

EXTRAP = [sys.executable, "-m", "extrap", "dashboard", "demo"]
QUESTION = "**Question:** how far do they read, and who reads furthest?"


@pytest.fixture
def server():
    with serving() as server:
        yield server


def compare(kept: Kept, study: Study) -> None:
    """Compares what a server has of the pages of jobs with the rows."""
    for page, own in study.pages:
        there = kept.pages[page.id]
        assert there["exitcode"] == 0
        said = ("groupName", "jobType", "displayName", "tags")
        assert [there[name] for name in said] == ["demo", "run", page.name, page.tags]
        config = {name: value for name, value in there["config"].items() if name != "_wandb"}
        assert config | {"options": {}} == page.config
        points = [point for some in own.values() for point in view.curve(some)]
        names = {name for point in points for name in point}
        curve = [
            {name: item[name] for name in item.keys() & names}
            for item in there["history"]
            if "train/step" in item
        ]
        assert curve == points
        for task, some in own.items():
            if data := view.table(some):
                table = {"columns": view.COLUMNS, "data": data}
                assert kept.table(page.id, f"table/{task}") == table
            assert view.summary(task, some).items() <= there["summary"].items()
        best = {f"series/{name}": value for name, value in page.best.items()}
        assert best.items() <= there["summary"].items()


@pytest.mark.turns
def test_a_server_has_the_pages_the_workspace_and_the_report_of_a_study(study, server, tmp_path):
    pytest.importorskip("wandb_workspaces", reason="the extra `dashboard` is not installed")
    files = {path: path.read_bytes() for path in tmp_path.rglob("results/**/*.csv")}
    done = started(
        [*EXTRAP, "--online", "--workspace", "--report", "--share"], server.environment, tmp_path
    )
    assert done.returncode == 0, done.stderr
    *_, place, story, shared = done.stdout.splitlines()
    assert place.startswith(f"{server.url}/{ENTITY}/extrap?nw=")
    assert story.startswith(f"{server.url}/{ENTITY}/extrap/reports/extrap-demo--")
    assert shared == f"{story}?accessToken=t0"
    kept = server.kept
    compare(kept, study)
    assert {page.id for page in study.jobs} | {study.page.id} == kept.pages.keys()
    assert kept.table(study.page.id, workspace.TABLE) == {
        "columns": list(command.COLUMNS),
        "data": [list(line) for line in study.table],
    }
    names = workspace.charts()
    assert kept.charts == names
    space, report = kept.views
    assert (space["type"], report["type"]) == ("project-view", "runs")
    used = {f"{ENTITY}/{name}" for name in names}
    assert chart_ids(space["spec"]) == chart_ids(report["spec"]) <= used
    assert QUESTION in json.dumps(report["spec"]) and '"| rope |' in json.dumps(
        report["spec"]
    ).replace("\\n", '"')
    assert {path: path.read_bytes() for path in files} == files


def chart_ids(spec: object) -> set[str]:
    """The charts that a view names."""
    if isinstance(spec, dict):
        own = {spec["panelDefId"]} if "panelDefId" in spec else set()
        return own.union(*map(chart_ids, spec.values()))
    return set().union(*map(chart_ids, spec)) if isinstance(spec, list) else set()


@pytest.mark.turns
def test_what_was_written_offline_is_the_same_after_wandb_sync(study, server, tmp_path):
    assert started(EXTRAP, server.environment, tmp_path).returncode == 0
    assert server.kept.pages == {}
    folders = sorted(map(str, tmp_path.glob("wandb/offline-run-*")))
    wandb = str(Path(sys.executable).with_name("wandb"))
    done = started([wandb, "sync", *folders], server.environment, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    compare(server.kept, study)


PAGE = """
import sys
from extrap.runs import dashboard
from extrap.runs.dashboard.page import Page

dashboard.UPLOAD = 2.0
board = dashboard.WandB(mode="online", timeout=1)
board.start(Page("demo", "rope-cafe0123-s0", "direct", "rope", "mixture", 0, 64, ("nll",)))
row = {"protocol": "nonoverlap", "length": 64, "metric": "nll", "value": 2.0, "status": "ok"}
board.log("nll", [row])
board.finish()
print(board.mode)
"""
REFUSALS = [
    ("UpsertBucket", 401, "offline", "refused with 401"),
    ("UpsertBucket", 500, "offline", "HTTP 500"),
    ("file_stream", 500, "online", ""),
    ("CreateArtifact", 500, "online", ""),
]
"""What a server refuses, with which status; the mode of the board in the end, and what is said."""


@pytest.mark.turns
@pytest.mark.sample(2)
@pytest.mark.parametrize(("what", "status", "mode", "said"), REFUSALS)
def test_a_server_that_takes_no_page_is_one_line_and_the_page_is_on_the_disk(
    what, status, mode, said, server, tmp_path
):
    server.fails = {what: status}
    done = started([sys.executable, "-c", PAGE], server.environment, tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{mode}\n"), done.stderr
    lines = [line for line in done.stderr.splitlines() if "extrap" in line]
    assert len(lines) == (mode == "offline")
    assert all(said in line and "going on offline" in line for line in lines)
    assert list(tmp_path.glob("wandb/*run-*/run-*.wandb"))
