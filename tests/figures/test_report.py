"""The page of a study: what it says is what rows say, it stands by itself, and names stay text."""

import re

import pandas as pd
import pytest
import yaml

from extrap import figures
from extrap.cli import plot, report
from extrap.figures.report import html_page, sections
from extrap.figures.report.pictures import pictures
from extrap.results import rows
from extrap.results.findings.statement import FILE
from extrap.runs.study import Entry
from extrap.utils.errors import UserError
from tests.support.plausible import run_rows, study_rows
from tests.support.tags import Tags

HOSTILE = "<script>alert(1)</script>\"'&"


def test_the_same_rows_are_the_same_bytes(study, text):
    assert html_page.page(study.sample(frac=1, random_state=0), images=False) == text


def test_the_page_loads_nothing(text):
    """Links lead into the page alone, and a policy forbids what a mistake would load."""
    assert "default-src 'none'" in text
    for tag, attributes in Tags(text).tags:
        for name in ("src", "href", "action", "data", "srcset"):
            found = attributes.get(name) or "#"
            assert found.startswith(("#", "data:image/png;base64,")), (tag, found)
        assert tag not in ("link", "iframe", "object", "base", "form")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|import\(", text)


COLUMNS = ("axis", "commit", "config", "corpus", "extension", "metric", "protocol", "task")
NAMES = ("scheme", "study", "data")


@pytest.mark.turns
@pytest.mark.parametrize("columns", [NAMES, *((column,) for column in COLUMNS)], ids=str)
def test_names_from_rows_stay_text(frame, columns):
    said = [
        row
        | ({"run": f"{HOSTILE}-cafe-s0"} if columns == NAMES else {})
        | {column: (row.get(column) or "") * (columns != NAMES) + HOSTILE for column in columns}
        for row in run_rows("rope")
    ]
    hostile = html_page.page(frame(said), images=False)
    plain = html_page.page(frame(run_rows("rope")), images=False)
    count = lambda text: [tag for tag, _ in Tags(text).tags].count("script")  # noqa: E731
    assert count(hostile) == count(plain) == 1
    assert HOSTILE not in hostile
    assert columns != NAMES or "&lt;script&gt;alert(1)" in hostile
    assert not [a for _, attributes in Tags(hostile).tags for a in attributes if a.startswith("on")]


def test_series_are_filtered_by_what_they_differ_in(frame, text):
    """By a chooser of each trait with two values, whose numbers are in their order."""
    rows = frame(study_rows(("rope", "alibi"), (0,)))
    sizes = {"rope": 12_000, "alibi": 9_000}
    small = rows.assign(params=rows["scheme"].map(sizes))
    other = rows.assign(train_length=128, run="l-" + rows["run"], config="f" * 8, params=12_000)
    tags = Tags(html_page.page(pd.concat([small, other]), images=False)).tags
    choosers = [of["data-filter"] for tag, of in tags if tag == "select" and "data-filter" in of]
    assert choosers == ["scheme", "size", "trained"]
    first = next(n for n, (tag, of) in enumerate(tags) if of.get("data-filter"))
    values = [of["value"] for tag, of in tags[first:] if tag == "option" and "value" in of]
    assert values[:9] == ["", "alibi", "rope", "", "9,000", "12,000", "", "64", "128"]
    boxes = [of for tag, of in tags if tag == "input"]
    traits = {(of["data-scheme"], of["data-size"], of["data-trained"]) for of in boxes}
    assert len(boxes) == 4 and ("alibi", "9,000", "64") in traits
    assert {trained for *_, trained in traits} == {"64", "128"}
    plain = [of for _, of in Tags(text).tags if "data-filter" in of]
    assert [of["data-filter"] for of in plain] == ["scheme"]
    alone = html_page.page(rows[rows["scheme"] == "rope"], images=False)
    assert "data-filter=" not in alone and "<fieldset" not in alone


def test_findings_stand_with_their_verdicts(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", study_rows(("rope",), (0, 1, 2)))
    told = {"id": "one", "says": "RoPE finds < most & more.", "source": "arXiv 1", "below": 0.9}
    told["rows"] = {"task": "kv", "metric": "accuracy", "protocol": "records", "multiple": 4}
    (tmp_path / "demo" / FILE).write_text(yaml.safe_dump({"statements": [told]}))
    said = report.text(tmp_path, ["demo"], images=False)
    assert "RoPE finds &lt; most &amp; more." in said and "✓ holds" in said


@pytest.mark.turns
@pytest.mark.slow
def test_figures_stand_in_the_page_as_far_as_it_has_room(frame, monkeypatch):
    some = frame(run_rows("rope"))
    names = [name for name, figure in figures.available().items() if figures.served(figure, some)]
    whole = html_page.page(some)
    assert re.findall(r'<figure id="figure-(\w+)">', whole) == names
    assert all(figures.caption(figures.available()[name])[:20] in whole for name in names)
    assert len(whole.encode()) < html_page.LARGEST
    monkeypatch.setattr(
        html_page, "LARGEST", len(html_page.page(some, images=False).encode()) + 90_000
    )
    small = html_page.page(some)
    assert len(small.encode()) < html_page.LARGEST
    kept = re.findall(r'<figure id="figure-(\w+)">', small)
    assert 0 < len(kept) < len(names)
    left = re.search(r"extrap plot demo ([\w ]+)</code>", small).group(1).split()
    assert sorted([*kept, *left]) == names


def test_the_page_names_the_experiments_of_its_study(study):
    """Rows do not hold every option, so a command made of rows would not make them again."""
    assert "extrap experiment=demo\n" not in html_page.page(study, images=False)
    asked = html_page.page(study, images=False, commands=report.commands("extension"))
    steps = "extension", "extension-options", "extension-tuned"
    assert "<code>" + "\n".join(f"extrap experiment={step}" for step in steps) in asked
    assert report.commands("reference") == ["extrap experiment=reference/headline"]
    assert report.commands("mine") == []


def test_the_command_writes_one_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report, "page", lambda *_, **__: "<p>page")
    rows.write(tmp_path / "demo" / "rows" / "a.csv", run_rows("rope"))
    report.main(["demo", "--results", str(tmp_path)])
    assert capsys.readouterr().out == f"{tmp_path / 'demo' / 'report.html'}\n"
    report.main(["demo", "--results", str(tmp_path), "--output", str(tmp_path / "mine.html")])
    assert (tmp_path / "mine.html").read_text() == "<p>page"


def test_a_study_without_an_experiment_names_the_commands_that_asked_for_its_jobs(elsewhere):
    """Those that `extrap status` names, with all of their options."""
    asked = "extrap -m scheme=rope,alibi study=mine train.steps=9"
    for run in ("rope-1-s0", "alibi-1-s0"):
        Entry("mine", run, "direct", {"train": "1"}, asked).write()
    assert report.commands("mine") == [asked]
    assert report.commands("demo") == ["extrap experiment=demo"]


def test_the_commands_of_a_report_give_each_extension_its_own_options(frame):
    """The plain reading has no factor, and one that follows the text is no option."""
    plain = frame(study_rows(("rope",), (0,)))
    read = plain[plain["task"] != "train"]
    follows = read["multiple"].clip(lower=1).fillna(1.0)
    parts = [plain, read.assign(extension="yarn-dynamic", factor=follows)]
    for factor in (4.0, 8.0):
        parts.append(read.assign(extension="yarn", factor=factor, config=f"{factor:g}"))
    parts.append(read.assign(extension="rerope,width=16"))
    lines = sections.command(pd.concat(parts)).splitlines()
    assert [line.partition(" seed=0 ")[2].partition(" 'task=")[0] for line in lines] == [
        "extension=direct,yarn-dynamic",
        "extension=rerope extension.width=16",
        "extension=yarn extension.factor=4,8",
    ]
    assert all(line.startswith("extrap -m study=demo scheme=rope ") for line in lines)
    assert lines[-1].endswith("'task=[kv,nll]'  # and the options of its runs, which rows lack")


@pytest.fixture
def two_figures(monkeypatch):
    """Two figures of a study, the first of which cannot be drawn."""

    def draw(rows):
        raise UserError("rows", problem="no picture <in> them")

    known = {name: figures.available()[name] for name in ("kv_length", "training_curves")}
    monkeypatch.setattr(known["kv_length"], "draw", draw)
    monkeypatch.setattr(figures, "available", lambda *_, **__: known)


@pytest.mark.usefixtures("two_figures")
def test_a_figure_that_cannot_be_drawn_ends_no_page(frame):
    drawn = pictures(frame(run_rows("rope")), 10**6)
    assert re.findall(r'<figure id="figure-(\w+)">', drawn) == ["training_curves"]
    assert "Not drawn: <b>kv_length</b>: rows: no picture &lt;in&gt; them" in drawn


@pytest.mark.usefixtures("two_figures")
def test_the_command_of_a_figure_without_room_names_studies_and_plug_ins(frame):
    both = [frame(run_rows("rope")), frame(run_rows("alibi")).assign(study="other")]
    left = pictures(pd.concat(both), 0, ["mine", "more"])
    assert "<code>extrap plot demo other training_curves --plugins mine,more</code>" in left


@pytest.mark.usefixtures("two_figures")
def test_a_figure_that_cannot_be_drawn_is_left_out_unless_it_is_named(tmp_path, capsys):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", run_rows("rope"))
    plot.main(["demo", "--results", str(tmp_path)])
    out, err = capsys.readouterr()
    assert [line.rpartition("/")[2] for line in out.split()] == [
        f"training_curves.{kind}" for kind in ("svg", "png")
    ]
    assert err == "extrap plot: kv_length left out: rows: no picture <in> them\n"
    with pytest.raises(SystemExit, match="2"):
        plot.main(["demo", "kv_length", "--results", str(tmp_path)])
