"""W&B, read back with its own reader: pages of jobs, pages made from rows, and every way of having
no server.
"""

import errno
import json
import math
import os
import pty
import shutil
import socket
import subprocess
import sys
import urllib.error
from pathlib import Path

import pytest

from extrap.cli import dashboard as command
from extrap.cli import report
from extrap.results import rows
from extrap.runs import shown_study
from extrap.runs.dashboard import WandB, online, vega, view
from extrap.runs.dashboard import page as pages_of
from extrap.runs.dashboard.lines import COLUMNS
from extrap.runs.dashboard.page import Page
from extrap.runs.evaluate import evaluate
from extrap.runs.experiment import work
from extrap.runs.folder import read_json
from extrap.runs.train import train
from tests.support.jobs import job
from tests.support.killed import killed
from tests.support.plausible import run_rows

REPOSITORY = Path(__file__).parents[2]
PAGE = Page(
    "demo",
    "rope-cafe0123-s0",
    "direct",
    "rope",
    "mixture",
    0,
    64,
    ("nll", "kv"),
    {"train": {"steps": 8}},
)


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
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """The rows of a study of one run, on a disk without run folders."""
    monkeypatch.chdir(tmp_path)
    found = run_rows("rope")
    for task in ("train", "nll", "kv"):
        file = Path("results/demo/rows") / f"{found[0]['run']}__direct__{task}.csv"
        rows.write(file, [row for row in found if row["task"] == task])
    return found


def test_rows_as_history_summary_and_tables() -> None:
    kv = [
        {"protocol": "records", "length": n, "depth": d, "metric": "accuracy", "value": n * d}
        for n in (64, 128)
        for d in (0.0, 0.5)
    ]
    nll = [
        {"protocol": "nonoverlap", "length": 64, "metric": "nll", "value": 2.0},
        {"metric": "steps_to_90", "value": 3.0},
    ]
    used = [
        {
            "protocol": "used",
            "length": 64,
            "metric": "theta",
            "axis": "pair",
            "at": 1.0,
            "value": 0.5,
        }
    ]
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
    assert view.tables("kv", kv)["heatmap/kv/records"] == (
        ["depth", "64", "128"],
        [[0.0, 0.0, 0.0], [0.5, 32.0, 64.0]],
    )
    assert view.summary("nll", nll) == {
        "nll/nonoverlap/nll at 64": 2.0,
        "nll/nonoverlap/perplexity at 64": math.exp(2.0),
    }
    assert (
        view.tables("nll", [nll[0] | {"value": None, "status": "diverged"}])["table/nll"][1][0][4]
        is None
    )
    assert view.by_length("nll", [nll[0] | {"value": None}]) == []


@pytest.mark.turns
def test_a_study_is_shown_from_its_rows(study: list[dict], capsys) -> None:
    command.main(["demo", "--figures"])
    assert capsys.readouterr().out == f"rope-cafe0123-s0 direct: {len(study)} rows\n"
    pages = {
        records["run"][0]["run_id"]: (records, folder)
        for folder in folders()
        for records in [leet(folder)]
    }
    assert len(pages) == 2
    (records, folder) = pages[next(name for name in pages if name.startswith("rope"))]
    assert records["exit"][0]["exit_code"] == 0
    images = {
        path.name.rsplit("_", 2)[0]
        for path in (folder / "files" / "media" / "images" / "figure").iterdir()
    }
    assert images >= {"kv_depth", "kv_heatmap", "loss_length", "training_curves"}
    own, history = study, histories(records)
    curve = {
        (row["protocol"], row["metric"], row["at"]): row["value"]
        for row in own
        if row.get("axis") == "step"
    }
    steps = [(item["train/step"], item) for item in history if "train/step" in item]
    shown = {
        (*key.split("/")[1:], at): item[key]
        for at, item in steps
        for key in item
        if key.count("/") == 2 and key.startswith("train/")
    }
    assert shown == pytest.approx(curve)
    bent = {
        (item["depth/at"], key): item[key] for item in history if "depth/at" in item for key in item
    }
    cells = [
        row
        for row in own
        if row["metric"] == "accuracy" and row["task"] == "kv" and row.get("depth") is not None
    ]
    assert cells
    for row in cells:
        assert bent[
            row["depth"], f"depth/kv/{row['protocol']}/accuracy at {row['length']}"
        ] == pytest.approx(row["value"])
    summary: dict[str, float] = {}
    for update in records["summary"]:
        summary |= update.get("update", {})
    for row in own:
        if row["metric"] == "nll" and row["task"] == "nll":
            assert summary[f"nll/{row['protocol']}/perplexity at {row['length']}"] == pytest.approx(
                math.exp(row["value"])
            )
    (whole, _) = pages[next(name for name in pages if name.startswith("study-demo"))]
    assert whole["run"][0]["job_type"] == "study"
    (table,) = Path("wandb").glob("offline-run-*study-demo*/files/media/table/curves*.json")
    lines = json.loads(table.read_text())
    assert lines["columns"] == list(COLUMNS)
    assert lines["data"] == [list(line) for line in shown_study.read("demo").lines.data] != []
    assert f"{vega.TABLE}._type" in {key for item in histories(whole) for key in item}
    (panel,) = (item for item in histories(whole) if "report._type" in item)
    assert panel["report._type"] == "html-file"
    (page,) = Path("wandb").glob("offline-run-*/files/media/html/report*.html")
    assert page.read_text() == report.text(Path("results"), "demo", images=False)
    assert {f"figure/{name}._type" for name in images} <= {
        key for item in histories(whole) for key in item
    }


def test_a_study_without_rows_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        command.main(["demo"])
    assert (
        capsys.readouterr().err
        == "extrap dashboard: STUDY=demo: no such study; none is here yet; `extrap` makes one\n"
    )


@pytest.mark.usefixtures("elsewhere")
def test_a_resumed_run_goes_on_with_its_page() -> None:
    first = job("scheme=rope", "logger=wandb")
    train(first)
    first.dashboard.finish()
    kept = read_json(first.run.folder / "wandb.json")
    again = job("scheme=rope", "logger=wandb")
    evaluate(again)
    again.dashboard.finish()
    trained, evaluated = sorted(
        (leet(folder) for folder in folders()), key=lambda records: len(records["history"])
    )
    assert [records["run"][0]["run_id"] for records in (trained, evaluated)] == list(
        kept.values()
    ) * 2
    page = trained["run"][0]
    assert (page["run_group"], page["job_type"]) == ("main", "run")
    assert page["tags"] == ["rope", "mixture", "nll", "kv", "L64"]
    config = page["config"]["update"]
    assert (config["scheme"], config["seed"], config["train_length"], config["study"]) == (
        "rope",
        0,
        64,
        "main",
    )
    assert config["options"]["train"]["steps"] == 8
    assert [item["train/step"] for item in histories(trained)] == [2, 4, 6, 8]
    assert any("figure/loss_length._type" in item for item in histories(evaluated))
    other = job("scheme=rope", "logger=wandb", "study=other")
    assert (
        Page("other", other.run.name, "direct", "rope", "mixture", 0, 64, ()).kept_id()
        not in kept.values()
    )


@pytest.mark.usefixtures("elsewhere")
def test_what_was_trained_before_a_kill_is_on_the_page_of_the_run_that_goes_on(monkeypatch) -> None:
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
    shown = histories(leet(page))
    assert [point["train/step"] for point in shown] == [2, 4, 6, 8]
    curve = read_json(again.run.curve)["points"]
    assert [point["train/text/nll"] for point in shown] == [point["text/nll"] for point in curve]


@pytest.mark.usefixtures("elsewhere")
def test_a_failed_run_closes_its_page_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(this) -> None:
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

for number, (more, timeout) in enumerate(json.loads(sys.argv[1])):
    if os.fork():
        assert os.wait()[1] == 0
        continue
    os.environ |= more
    began, board = time.monotonic(), WandB(mode="online", timeout=timeout)
    board.start(Page("demo", f"rope-cafe0123-s{number}", "direct", "rope", "mixture", 0, 64, ()))
    print(board.mode, board.run.settings.finish_timeout, time.monotonic() - began < 60, flush=True)
    board.finish()
    sys.exit()
"""

REFUSED = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
CASES = [
    ({}, 60, "no W&B key on this machine (`wandb login` stores one)"),
    (
        {"WANDB_API_KEY": "a" * 40, "WANDB_BASE_URL": "CLOSED"},
        60,
        f"CLOSED cannot be reached ({REFUSED})",
    ),
    (
        {"WANDB_API_KEY": "a" * 40, "WANDB_BASE_URL": "SILENT"},
        2,
        "SILENT does not answer within 2 s",
    ),
    (
        {"WANDB_API_KEY": "short"},
        60,
        "WANDB_API_KEY invalid: API key must have 40+ characters, has 5.",
    ),
    (
        {"WANDB_MODE": "offline", "WANDB_API_KEY": "a" * 40},
        60,
        "WANDB_MODE=offline in the environment",
    ),
]
"""Environments without a server that would take the run, seconds given to it, and what is said of
each.

CLOSED: a port that takes no calls; SILENT: a server that takes calls and never answers.
"""


def test_a_call_that_is_not_taken_in_time_is_told_as_one_that_is_not_answered(monkeypatch) -> None:
    """On a busy machine it depends on the clock which of the two gives up first."""

    def late(*_, **__):
        raise urllib.error.URLError(TimeoutError("timed out"))

    monkeypatch.setattr(online.urllib.request, "urlopen", late)
    assert online._unanswered("http://there", 2) == "http://there does not answer within 2 s"


def test_online_without_a_server_goes_on_offline(tmp_path: Path) -> None:
    """On a terminal, where wandb would ask for a key and wait for the answer for ever."""
    with socket.socket() as server, socket.socket() as closed:
        said = json.dumps(CASES)
        for word, end in (("SILENT", server), ("CLOSED", closed)):
            end.bind(("127.0.0.1", 0))
            said = said.replace(word, f"http://127.0.0.1:{end.getsockname()[1]}")
        server.listen()
        cases = json.loads(said)
        out = ("WANDB_", "NETRC", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        kept = {
            name: value for name, value in os.environ.items() if not name.upper().startswith(out)
        }
        near, far = pty.openpty()
        try:
            done = subprocess.run(
                [sys.executable, "-c", ONLINE, json.dumps([case[:2] for case in cases])],
                cwd=tmp_path,
                env=kept | {"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)},
                stdin=far, capture_output=True, text=True, check=True, timeout=300,
            )  # fmt: skip
        finally:
            os.close(near)
            os.close(far)
    assert done.stdout.splitlines() == ["offline 120.0 True"] * len(cases)
    lines = [line for line in done.stderr.splitlines() if line.startswith("extrap: ")]
    end = "; going on offline, `wandb sync` sends the run later"
    assert lines == [f"extrap: logger.mode=online: {reason}{end}" for *_, reason in cases]
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == len(cases)


def test_a_server_that_refuses_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    import wandb

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extrap.runs.dashboard.obstacle", lambda timeout: None)
    asked = []

    def init(**options):
        asked.append(options["mode"])
        if options["mode"] == "online":
            raise wandb.errors.CommError("permission denied\nmore words")
        return type(
            "Run", (), {"define_metric": lambda *a, **k: None, "finish": lambda *a, **k: None}
        )()

    monkeypatch.setattr(wandb, "init", init)
    board = WandB(mode="online")
    board.start(PAGE)
    board.finish()
    assert asked == ["online", "offline"]
    assert capsys.readouterr().err == (
        "extrap: logger.mode=online: permission denied; going on offline, `wandb sync` sends "
        "the run later\n"
    )


def test_a_study_of_somebody_else_is_shown_under_the_same_ids(monkeypatch, tmp_path: Path) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.chdir(tmp_path)
    page = Page("a", "rope-1-s0", "direct", "rope", "mixture", 0, 64, ())
    (tmp_path / "runs/rope-1-s0").mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(pages_of, "write_json", refused)
        shown = page.kept_id()
    assert shown == page.kept_id()


def test_ids_are_short_and_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages = [
        Page(study, "x" * 90, extension, "x", "mixture", 0, 64, ())
        for study in ("a", "b")
        for extension in ("direct", "pi,factor=4")
    ]
    assert len({page.kept_id() for page in pages}) == 4
    assert all(len(page.id) <= 64 and not set(page.id) & set(r"/\#?%:") for page in pages)
    assert all(len(tag) <= 64 for page in pages for tag in page.tags)
