"""Several studies, and rows of other people, in one report, table, figure and dashboard."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from extrap import figures
from extrap.cli import dashboard as command
from extrap.cli import plot, report, table
from extrap.figures import kv_length
from extrap.results import baselines
from extrap.results.packing import pack
from extrap.results.rows import write
from extrap.results.schema import ROWS
from extrap.runs.dashboard import WandB
from extrap.runs.dashboard.study import read
from extrap.utils.errors import UserError
from tests.support.plausible import study_rows


@pytest.fixture(autouse=True)
def two(elsewhere: Path) -> None:
    for study, schemes in {"mine": ("rope", "alibi"), "theirs": ("rope", "nope")}.items():
        rows = [row | {"study": study} for row in study_rows(schemes, (0, 1))]
        for task in {row["task"] for row in rows}:
            for run in {row["run"] for row in rows}:
                own = [row for row in rows if (row["task"], row["run"]) == (task, run)]
                write(Path("results", study, "rows", f"{run}__direct__{task}.csv"), own)


@pytest.mark.turns
def test_report_table_and_plot_take_both(capsys) -> None:
    page = report.text(Path("results"), ["mine", "theirs"], images=False)
    for label in ("rope-mine", "rope-theirs", "alibi", "nope"):
        assert f"<td>{label}</td>" in page
    table.main(["mine", "theirs"])
    assert "rope-mine" in (said := capsys.readouterr().out) and "Study mine, theirs, " in said
    plot.main(["mine", "theirs", "kv_length"])
    assert Path("results/mine/figures/beside-theirs/kv_length.svg").exists()
    with pytest.raises(SystemExit, match="2"):
        plot.main(["mine", "theirs", "gap"])
    assert "`extrap study=mine task=gap` makes them" in capsys.readouterr().err
    report.main(["mine", "theirs"])
    assert Path("results/mine/report-theirs.html").exists()
    with pytest.raises(SystemExit, match="2"):
        report.main([])
    assert "STUDY: missing; studies in results: mine, theirs" in capsys.readouterr().err


def test_a_study_whose_rows_travel_stands_beside_one_of_ones_own_in_any_folder(
    monkeypatch, capsys
) -> None:
    rows = [row | {"study": "reference"} for row in study_rows(("rope", "t5"), (0, 1))]
    write(Path("package/reference/rows/a.csv"), rows)
    pack(Path("package/reference"))
    monkeypatch.setattr(baselines, "INSTALLED", Path("package"))
    table.main(["mine", "reference"])
    said = capsys.readouterr().out
    assert "rope-mine" in said and "rope-reference" in said and "t5" in said
    plot.main(["mine", "reference", "kv_length"])
    assert Path("results/mine/figures/beside-reference/kv_length.svg").exists()
    plot.main(["reference", "kv_length"])
    assert Path("results/reference/figures/kv_length.svg").exists()
    assert not Path("results/reference/rows").exists()
    with pytest.raises(SystemExit, match="2"):
        table.main(["mine", "refrence"])
    assert "STUDY=refrence: no such study in results; studies there: mine, theirs" in (
        capsys.readouterr().err
    )


def test_a_dashboard_says_that_it_takes_no_file_of_rows(capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["mine", "results/theirs/rows"])
    line = (
        "STUDY=results/theirs/rows: no study of results; extrap report, table and plot take files"
    )
    assert line in capsys.readouterr().err


def test_a_word_behind_the_first_that_names_a_figure_is_that_figure() -> None:
    """A study of the name of a figure is drawn by it, and a folder of that name hides none."""
    Path("results/mine").rename("results/gap")
    Path("kv_length").mkdir()
    split = partial(plot._split, Path("results"), figures={"gap", "kv_length"})
    assert split(["gap", "gap"]) == (["gap"], ["gap"])
    assert split(["theirs", "kv_length", "gap"]) == (["theirs"], ["kv_length", "gap"])
    assert split(["gap", "theirs", "gap"]) == (["gap", "theirs"], ["gap"])


@pytest.mark.turns
def test_a_dashboard_takes_several_studies_and_some_series() -> None:
    both = read("mine", "theirs")
    assert both.name == "mine-theirs" and len(both.pages) == 8
    assert {s.label for s in both.series} == {"rope-mine", "rope-theirs", "alibi", "nope"}
    some = read("mine", series=["alibi"])
    assert {s.label for s in some.series} == {"alibi"} and len(some.pages) == 2
    assert {line["series"] for line in some.lines} == {"alibi"}
    with pytest.raises(UserError, match="--series=fire: no such series"):
        read("mine", series=["fire"])


class Shown(WandB):
    """Keeps the figures and the page of a study."""

    def start(self, page, resume="allow") -> None: ...
    def log(self, task, rows) -> None: ...
    def table(self, name, columns, data) -> None: ...

    def library(self) -> SimpleNamespace:
        return SimpleNamespace(Image=lambda image, caption: caption)

    def figures(self, rows, plugins=()) -> None:
        self.drawn: list[str] = []
        self.rows, self.run = rows, SimpleNamespace(log=self.drawn.extend)
        super().figures(rows, plugins)
        self.run = None

    def page(self, text: str) -> None:
        self.text = text


def test_figures_and_page_of_a_dashboard_have_its_series_alone(monkeypatch, capsys) -> None:
    def draw(rows):
        raise UserError("rows", problem="nothing to draw")

    failing = SimpleNamespace(NEEDS=kv_length.NEEDS, draw=draw, __name__="failing", __doc__="No.")
    known = {"failing": failing, "kv_length": kv_length}
    monkeypatch.setattr(figures, "available", lambda plugins=(): known)
    study = read("mine", "theirs", series=["rope-mine", "nope"])
    command.show(board := Shown(), study, series=["rope-mine", "nope"])
    assert {*board.rows["scheme"]} == {"rope-mine", "nope"} == {s.label for s in study.series}
    assert "rope-mine" in board.text and "rope-theirs" not in board.text
    assert board.drawn == ["figure/kv_length"]
    assert "figure failing is left out of the dashboard: rows: " in capsys.readouterr().err


def test_a_dashboard_refuses_other_questions() -> None:
    for file in Path("results/theirs/rows").glob("*__kv.csv"):
        rows = ROWS.records([file])
        chance = [row | {"value": 0.5} for row in rows if row["metric"] == "chance"]
        write(file, chance + [row for row in rows if row["metric"] != "chance"])
    with pytest.raises(UserError, match=r"^task\.kv: other questions"):
        read("mine", "theirs")
