"""W&B, read back with its own reader: pages of jobs and of rows, and all ways of no server."""

import json
import math
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections import ChainMap
from dataclasses import replace
from pathlib import Path

import pytest

from extrap.cli import dashboard as command
from extrap.cli import report
from extrap.runs.dashboard import WandB, view, workspace
from extrap.runs.dashboard.page import Page
from extrap.runs.evaluate import evaluate
from extrap.runs.experiment import work
from extrap.runs.folder import read_json
from extrap.runs.train import train
from extrap.utils import progress
from tests.support.jobs import job
from tests.support.killed import killed
from tests.support.plausible import written
from tests.support.wandb_server import started


def leet(folder: Path) -> dict[str, list[dict]]:
    """The records of an offline run by type."""
    words = [str(Path(sys.executable).with_name("wandb")), "leet", "inspect", "--json", str(folder)]
    found: dict[str, list[dict]] = {}
    for line in subprocess.run(
        words, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        record = json.loads(line)
        found.setdefault(record["type"], []).append(record[record["type"]])
    return found


def folders() -> list[Path]:
    return sorted(Path("wandb").glob("offline-run-*"))


def histories(records: dict[str, list[dict]]) -> list[dict]:
    return [record["item"] for record in records["history"]]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The rows of a study of one run, on a disk without run folders."""
    monkeypatch.chdir(tmp_path)
    return written("rope")


def test_rows_as_history_summary_and_tables():
    kv = [
        {"protocol": "records", "length": n, "depth": d, "metric": "accuracy", "value": n * d}
        for n in (64, 128)
        for d in (0.0, 0.5)
    ]
    nll = [
        {"protocol": "nonoverlap", "length": 64, "metric": "nll", "value": 2.0},
        {"metric": "steps_to_90", "value": 3.0},
    ]
    used = [{"length": 64, "metric": "theta", "axis": "pair", "at": 1.0, "value": 0.5}]
    assert view.by_length("kv", [*kv, *used])[1] == {
        "eval/length": 128,
        "eval/kv/records/accuracy/depth 0": 0.0,
        "eval/kv/records/accuracy/depth 0.5": 64.0,
    }
    assert view.by_depth("kv", kv)[1] == {
        "depth/at": 0.5,
        "depth/kv/records/accuracy at 64": 32.0,
        "depth/kv/records/accuracy at 128": 64.0,
    }
    assert view.summary("nll", nll) == {
        "nll/nonoverlap/nll at 64": 2.0,
        "nll/nonoverlap/perplexity at 64": math.exp(2.0),
    }
    assert view.table([*nll, *used]) == [
        ["nonoverlap", 64, None, "nll", 2.0, None, None, None, None]
    ]
    assert view.table([nll[0] | {"value": None}])[0][4] is None
    assert view.by_length("nll", [nll[0] | {"value": None}]) == []
    step = {"task": "train", "axis": "step", "protocol": "text", "metric": "nll", "at": 2.0}
    assert view.curve([step | {"value": 1.0}]) == [{"train/step": 2.0, "train/text/nll": 1.0}]


@pytest.mark.turns
def test_a_study_is_shown_from_its_rows(study, capsys):
    command.main(["demo"])
    assert capsys.readouterr().out == f"rope-cafe0123-s0 direct: {len(study)} rows\n"
    pages = {records["run"][0]["job_type"]: (records, folder)
             for folder in folders() for records in [leet(folder)]}  # fmt: skip
    assert pages.keys() == {"run", "study"}
    (records, _), (whole, folder) = pages["run"], pages["study"]
    assert records["exit"][0]["exit_code"] == 0
    names = (folder / "files/media/images/figure").iterdir()
    images = {path.name.rsplit("_", 2)[0] for path in names}
    assert images >= {"kv_depth", "kv_heatmap", "loss_length", "training_curves"}
    shown = {key for item in histories(whole) for key in item}
    assert {f"figure/{name}._type" for name in images} | {f"{workspace.TABLE}._type"} <= shown
    (page,) = Path("wandb").glob("offline-run-*/files/media/html/report*.html")
    assert page.read_text() == report.text(Path("results"), ["demo"], images=False)


@pytest.mark.turns
@pytest.mark.usefixtures("elsewhere")
def test_a_resumed_run_goes_on_with_its_page():
    first = job("scheme=rope", "logger=wandb")
    train(first)
    first.dashboard.finish()
    again = job("scheme=rope", "logger=wandb")
    evaluate(again)
    again.dashboard.finish()
    trained, evaluated = sorted(
        (leet(folder) for folder in folders()), key=lambda records: len(records["history"])
    )
    one, two = (records["run"][0]["run_id"] for records in (trained, evaluated))
    assert one == two
    page = trained["run"][0]
    assert (page["run_group"], page["job_type"]) == ("main", "run")
    assert page["tags"] == ["rope", "mixture", "nll", "kv", "L64"]
    config = page["config"]["update"]
    said = {"scheme": "rope", "seed": 0, "train_length": 64, "study": "main"}
    assert said.items() <= config.items()
    assert config["options"]["train"]["steps"] == 8
    assert [item["train/step"] for item in histories(trained)] == [2, 4, 6, 8]
    assert any("figure/loss_length._type" in item for item in histories(evaluated))


@pytest.mark.usefixtures("elsewhere")
def test_what_was_trained_before_a_kill_is_on_the_page_of_the_run_that_goes_on(monkeypatch):
    words = ("scheme=rope", "logger=wandb", "train.save_every=4")
    first = job(*words)
    with killed(monkeypatch, 6):
        train(first)
    first.dashboard.finish(1)
    (lost,) = folders()
    shutil.rmtree(lost)  # as far as it came is not on the disk
    again = job(*words)
    train(again)
    again.dashboard.finish()
    (page,) = folders()
    records = leet(page)
    shown = histories(records)
    assert [point["train/step"] for point in shown] == [2, 4, 6, 8]
    curve = read_json(again.run.curve)["points"]
    assert [point["train/text/nll"] for point in shown] == [point["text/nll"] for point in curve]
    cost = {f"cost/{name}": x for name, x in again.run.state["cost"].items() if x is not None}
    assert cost["cost/seconds"] > 0
    assert cost.items() <= ChainMap(*(one["update"] for one in records["summary"][::-1])).items()


@pytest.mark.usefixtures("elsewhere")
def test_a_failed_run_closes_its_page_as_failed(monkeypatch):
    def broken(this, wait) -> None:
        this.show()
        raise RuntimeError("no")

    monkeypatch.setattr("extrap.runs.train.train", broken)
    this = job("scheme=rope", "logger=wandb")
    this.run.folder.mkdir(parents=True)
    with pytest.raises(RuntimeError):
        work(this)
    assert leet(folders()[0])["exit"][0]["exit_code"] == 1
    assert this.run.failure() == "RuntimeError: no"


ONLINE = """
import json, os, sys, time
import wandb
from extrap.runs.dashboard import WandB
from extrap.runs.dashboard.page import Page

for number, more in enumerate(json.loads(sys.argv[1])):
    if os.fork():
        assert os.wait()[1] == 0
        continue
    os.environ |= more
    began, board = time.monotonic(), WandB(mode="online", timeout=3)
    board.start(Page("demo", f"rope-cafe0123-s{number}", "direct", "rope", "mixture", 0, 64, ()))
    print(board.mode, board.run.settings.finish_timeout, time.monotonic() - began < 60, flush=True)
    board.finish()
    sys.exit()
"""
KEY = {"WANDB_API_KEY": "a" * 40}
CASES = [
    ({}, "no W&B key on this machine (`wandb login` stores one);"),
    (KEY | {"WANDB_BASE_URL": "CLOSED"}, ""),
    (KEY | {"WANDB_BASE_URL": "SILENT"}, ""),
    ({"WANDB_API_KEY": "short"}, "WANDB_API_KEY invalid: API key must have 40+ characters, has 5."),
    (KEY | {"WANDB_MODE": "offline"}, "WANDB_MODE=offline in the environment;"),
]
"""Environments without a server that takes the run, and the beginning of the reason. CLOSED: a port
that takes no calls; SILENT: a server that takes calls and never answers; wandb says why in several
ways.
"""


@pytest.mark.turns
def test_online_without_a_server_goes_on_offline(tmp_path):
    """On a terminal, where wandb would ask for a key and wait for the answer for ever."""
    with socket.socket() as server, socket.socket() as closed:
        said = json.dumps([more for more, _ in CASES])
        for word, end in (("SILENT", server), ("CLOSED", closed)):
            end.bind(("127.0.0.1", 0))
            said = said.replace(word, f"http://127.0.0.1:{end.getsockname()[1]}")
        server.listen()
        near, far = pty.openpty()
        try:
            done = started([sys.executable, "-c", ONLINE, said], {}, tmp_path, stdin=far)
        finally:
            os.close(near)
            os.close(far)
    assert done.stdout.splitlines() == ["offline 120.0 True"] * len(CASES), done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("extrap: ")]
    for line, (_, reason) in zip(lines, CASES, strict=True):
        assert line.startswith(f"extrap: logger.mode=online: {reason}")
        assert line.endswith("; going on offline, `wandb sync` sends the run later")
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == len(CASES)


def test_ids_are_short_and_told_apart():
    pages = [
        Page(study, "x" * 90, extension, "x", "mixture", 0, 64, ())
        for study in ("a", "b")
        for extension in ("direct", "pi,factor=4")
    ]
    assert len({page.id for page in pages}) == 4
    assert all(len(page.id) <= 64 and not set(page.id) & set(r"/\#?%:") for page in pages)
    assert all(len(tag) <= 64 for page in pages for tag in page.tags)


def test_in_a_sweep_of_wandb_a_run_has_one_page(tmp_path, monkeypatch):
    """Named by extrap, or by an agent through the environment; the agent names neither the page of
    a parent in the same process nor the pages of a sweep of extrap.
    """
    import wandb

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_SWEEP_ID", "sweep")
    page = Page("main", "rope-s0", "direct", "rope", "mixture", 0, 64, ("kv",), by_agent=True)
    parent = replace(page, run="parent-s0", by_agent=False)
    ids = []
    try:
        for agent, shown_page in (("", page), ("", page), ("own", parent), ("own", page)):
            if agent and ids[-1] == page.id:
                wandb.teardown()  # a process of its own
                monkeypatch.setenv("WANDB_RUN_ID", agent)
            shown = WandB()
            shown.start(shown_page)
            ids.append(shown.run.id)
            shown.finish()
    finally:
        wandb.teardown()
    assert ids == [page.id, page.id, parent.id, "own"]


def test_an_agent_of_wandb_names_the_page_of_the_own_run_of_a_command(monkeypatch):
    started = []
    for words in ({}, {progress.FILE: "progress.json"}):
        for name, value in words.items():
            monkeypatch.setenv(name, value)
        tuned = job("scheme=rope", "finetune=lora")
        monkeypatch.setattr(tuned.dashboard, "start", started.append, raising=False)
        for training in (*tuned.trainings, None):
            tuned.show(training)
    assert [page.by_agent for page in started] == [False, True, True, False, False, False]
