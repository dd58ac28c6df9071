"""`extrap dashboard` where W&B will not: one line and exit code 2; a figure that cannot be shown
costs a warning and nothing else.
"""

import json
import sys
from pathlib import Path

import pytest
import wandb

from extrap.cli import dashboard as command
from extrap.results.schema import ROWS
from extrap.runs.dashboard import WandB, workspace
from extrap.runs.dashboard.study import read
from tests.support.plausible import written
from tests.support.wandb_server import started

END = "; the rows are unchanged; extrap report shows them without W&B\n"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("rope", "alibi", tasks=("nll",))
    return tmp_path


def occupied(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("wandb").write_text("mine")


def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with WANDB_BASE_URL, which wandb reads once in a process."""
    monkeypatch.setattr(wandb, "init", lambda **_: wandb.Settings(base_url="not a url"))
    monkeypatch.setattr("extrap.runs.dashboard.library.log_in", lambda: None)


def no_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb, "init", lambda **_: wandb.Settings(mode="bogus"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "words", "line"),
    [
        (occupied, [], "W&B: [Errno 20] Not a directory: "),
        (no_address, [], "W&B: base_url: Input should be a valid URL"),
        (no_address, ["--online"], "W&B: base_url: Input should be a valid URL"),
        (no_mode, [], "W&B: mode: Input should be 'online', 'offline'"),
        (None, ["--project", "a/b"], "W&B: Invalid project name 'a/b': cannot contain"),
    ],
)
def test_w_and_b_that_takes_no_page_is_one_line(before, words, line, study, monkeypatch, capsys):
    kept = {path: path.read_bytes() for path in Path("results").rglob("*.csv")}
    if before is not None:
        before(monkeypatch)
    with pytest.raises(SystemExit, match="2"):
        command.main(["demo", *words])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"extrap dashboard: {line}") and err.endswith(END)
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path("results").rglob("*.csv")} == kept


class Taken(WandB):
    """Takes every page and remembers it; figures do not fit into memory."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[list[str]] = []

    def start(self, page, resume="allow") -> None:
        self.pages.append([page.run])

    def log(self, task, found) -> None:
        self.pages[-1].append(task)

    def table(self, name, columns, data) -> None:
        self.pages[-1].append(name)

    def figures(self, rows, plugins=()) -> None:
        self.pages[-1].append("figures")
        raise MemoryError

    def page(self, text: str) -> None:
        self.pages[-1].append("page")


def test_a_figure_that_fails_is_one_warning_and_every_page_is_there(study, capsys):
    board = Taken()
    shown = read("demo")
    command.show(board, shown)
    files = Path("results").rglob("*.csv")
    assert len(shown.records) == sum(len(ROWS.records([path])) for path in files)
    study = ["curves", "figures", "page"]
    assert [page[1:] for page in board.pages] == [["nll"], ["nll"], study]
    err = capsys.readouterr().err
    assert err == "extrap dashboard: MemoryError; figures or panels are left out\n"


@pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning")  # of wandb_workspaces
@pytest.mark.parametrize("most", [1, 2])
def test_a_study_of_many_series_has_no_figures_and_says_so(most, study, monkeypatch, capsys):
    monkeypatch.setattr(command, "DRAWN", most)
    monkeypatch.setattr(workspace, "DRAWN", most)
    shown = read("demo")
    command.show(board := Taken(), shown)
    assert board.pages[-1][1:] == ["curves", *["figures"] * (most == 2), "page"]
    assert ("no figures" in capsys.readouterr().out) == (most == 1)
    pytest.importorskip("wandb_workspaces", reason="the extra `dashboard` is not installed")
    built = workspace.report(shown, "extrap", "", "How far?", "")
    assert ("has no figures" in json.dumps(workspace.specification(built))) == (most == 1)


ALONE = """
from extrap.runs.dashboard import WandB, workspace
from extrap.runs.dashboard.page import Page
board = WandB()
board.start(Page("demo", "rope-cafe0123-s0", "direct", "rope", "mixture", 0, 64, ()))
board.finish()
"""


@pytest.mark.turns
def test_without_a_home_all_is_kept_below_wandb(tmp_path):
    done = started([sys.executable, "-c", ALONE], {"HOME": None}, tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["wandb"]
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 1
