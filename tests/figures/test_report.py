"""The page of a study: what it says is what rows say, it stands by itself, and names stay text."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import to_rgb

from extrap import figures
from extrap.cli import report
from extrap.cli.table import text as table_text
from extrap.figures.drawing.palette import COLOURS
from extrap.figures.report import page, sections, views
from extrap.figures.report.chart import MARKS, mark
from extrap.figures.report.text import number
from extrap.results import ranking, rows
from extrap.results.findings.statement import FILE
from extrap.results.series import select, spread, steps, whole
from extrap.results.summary import summary
from extrap.runs.study import Entry
from tests.support.plausible import run_rows, study_rows

HOSTILE = "<script>alert(1)</script>\"'&"
HERE = Path(page.__file__).parent


@pytest.fixture(scope="module")
def study(frame):
    return frame(study_rows(("rope", "alibi", "learned"), (0, 1, 2)))


@pytest.fixture(scope="module")
def text(study):
    return page.page(study, images=False)


class Tags(HTMLParser):
    """Every tag with its attributes, and the text inside each kind."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.inside: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "img", "use", "path", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        for tag in set(self.open):
            self.inside.setdefault(tag, []).append(data)


def test_the_same_rows_are_the_same_bytes(study, text):
    assert page.page(study.sample(frac=1, random_state=0), images=False) == text


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


@pytest.mark.parametrize("columns", [NAMES, *((column,) for column in COLUMNS)], ids=str)
def test_names_from_rows_stay_text(frame, columns):
    said = [
        row
        | ({"run": f"{HOSTILE}-cafe-s0"} if columns == NAMES else {})
        | {column: (row.get(column) or "") * (columns != NAMES) + HOSTILE for column in columns}
        for row in run_rows("rope")
    ]
    hostile = page.page(frame(said), images=False)
    plain = page.page(frame(run_rows("rope")), images=False)
    count = lambda text: [tag for tag, _ in Tags(text).tags].count("script")  # noqa: E731
    assert count(hostile) == count(plain) == 1
    assert HOSTILE not in hostile
    assert columns != NAMES or "&lt;script&gt;alert(1)" in hostile
    assert not [a for _, attributes in Tags(hostile).tags for a in attributes if a.startswith("on")]


def test_every_curve_is_what_spread_says_of_its_series(study):
    found = whole(study)
    shown = views.views(found)
    assert {view.score for view in shown} >= {
        "retrieval accuracy (records)",
        "text perplexity (sliding window)",
    }
    view = next(v for v in shown if (v.kind, v.protocol, v.length) == ("depth", "records", 256))
    for index, points in view.points.groupby("series"):
        part = select(found[index].rows, task="kv", metric="accuracy", protocol="records")
        told = spread(part[(part["length"] == 256) & part["depth"].notna()], "depth")
        numbers = points[["x", "value", "low", "high"]]
        np.testing.assert_allclose(numbers, told.reset_index().to_numpy(float))


def test_losses_are_shown_as_perplexity_and_points_say_what_they_are(study, text):
    mean = select(study, task="nll", protocol="sliding", scheme="alibi", length=256)
    mean = mean.loc[mean["metric"] == "nll", "value"].mean()
    titles = "".join(Tags(text).inside["title"])
    assert re.search(rf"alibi · 256 tokens · {number(np.exp(mean))} \[.+?\] · 3 seeds", titles)


def test_a_control_has_no_say_about_what_it_never_saw(frame):
    some = frame(run_rows("rope") + run_rows("rope", data="text"))
    found = whole(some)
    for view in views.views(found):
        data = {found[i].data for i in view.points["series"]}
        assert data == ({"mixture", "text"} if view.loss else {"mixture"})


def test_seeds_below_the_gate_are_told_and_marked(frame):
    lost = [
        row | ({"status": "not trained"} if row["task"] == "kv" and row["seed"] == 1 else {})
        for row in study_rows(("rope",), (0, 1, 2))
    ]
    said = page.page(frame(lost), images=False)
    titles = "".join(Tags(said).inside["title"])
    assert "3 seeds, 1 below the gate" in titles and "hollow" in said
    assert "below the gate: " in said, "what did not train is listed with its gate"


def test_the_leaderboard_ranks_by_retrieval_past_the_training_length(study, text):
    table = re.search(r'<table class="sorts">.*?</table>', text, re.DOTALL).group()
    lines = re.findall(r"<tr class=.*?</tr>", table)
    cells = [re.findall(r"<td.*?>(.*?)</td>", line) for line in lines]
    assert [line[0] for line in cells] == ["alibi", "rope", "learned"]
    part = select(study, task="kv", protocol="records", metric="accuracy", scheme="alibi")
    mean = part[(part["length"] == 256) & part["depth"].notna()]["value"].mean()
    assert cells[0][1].startswith(number(mean))
    assert [line[2] for line in cells] == ["1", "2", "-"], "learned is not read that far"
    far = part[part["length"] == 256].dropna(subset="depth")
    seeds, depths = (far.groupby(by)["value"].mean() for by in ("seed", "depth"))
    worst = f"{number(depths.min())} at {depths.idxmin():g}"
    assert cells[0][3:5] == [number(seeds.min()), worst] and seeds.min() < seeds.mean()


def test_a_sentence_at_the_top_says_what_the_leaderboard_says(frame, text):
    lead = re.search(r'<p class="lead">(.*?)</p>', text).group(1)
    assert lead.startswith("At 4 times the training length, <b>alibi</b> has the best retrieval")
    assert "Every other series lies below it." in lead and "The last of 2, <b>rope</b>, has" in lead
    one = page.page(frame(study_rows(("rope", "alibi"), (0,))), images=False)
    assert "With fewer than three seeds, this order may be chance." in one
    found = frame([one for seed in range(3) for one in run_rows("alibi", seed=seed)])
    twins = pd.concat([found, found.assign(scheme="twin", run="twin-" + found["run"])])
    assert "do not tell it apart from <b>twin</b>" in page.page(twins, images=False)


def contrast(one: str, other: str) -> float:
    """Of two colours, by WCAG 2."""

    def light(colour: str) -> float:
        channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                    for c in to_rgb(colour)]  # fmt: skip
        return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def variables(dark: bool) -> dict[str, str]:
    light, night = (HERE / "style.css").read_text().split("@media (prefers-color-scheme: dark)")
    return dict(re.findall(r"--(\w+): (#\w+)", night.split("* {")[0] if dark else light))


@pytest.mark.parametrize("dark", [False, True])
def test_lines_and_words_stand_out_by_day_and_by_night(dark):
    colours = variables(dark)
    assert set(COLOURS) <= set(colours)
    assert all(contrast(colours[name], colours["back"]) >= 3 for name in COLOURS)
    for words in ("ink", "quiet", "accent"):
        assert contrast(colours[words], colours["back"]) >= 4.5
        assert contrast(colours[words], colours["box"]) >= 4.5


def test_by_day_colours_are_those_of_the_figures():
    colours = variables(dark=False)
    assert {name: colours[name] for name in COLOURS} == COLOURS


def test_every_marker_of_a_figure_has_a_mark():
    from extrap.figures.drawing.palette import MARKERS

    assert all(0 <= mark(marker) < len(MARKS) for marker in MARKERS)


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
    whole = page.page(some)
    assert re.findall(r'<figure id="figure-(\w+)">', whole) == names
    assert all(figures.caption(figures.available()[name])[:20] in whole for name in names)
    assert len(whole.encode()) < page.LARGEST
    monkeypatch.setattr(page, "LARGEST", len(page.page(some, images=False).encode()) + 90_000)
    small = page.page(some)
    assert len(small.encode()) < page.LARGEST
    kept = re.findall(r'<figure id="figure-(\w+)">', small)
    assert 0 < len(kept) < len(names)
    left = re.search(r"extrap plot demo ([\w ]+)</code>", small).group(1).split()
    assert sorted([*kept, *left]) == names


def test_the_page_names_the_experiments_of_its_study(study):
    """Rows do not hold every option, so a command made of rows would not make them again."""
    assert "extrap experiment=demo\n" not in page.page(study, images=False)
    asked = page.page(study, images=False, commands=report.commands("extension"))
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


def test_report_and_table_count_the_same_seeds(frame):
    """The runs that pass the gate, if any does."""
    rows = frame(study_rows(("rope", "alibi"), (0, 1, 2)))
    of_kv = rows["task"] == "kv"
    for scheme, seeds in (("rope", [0]), ("alibi", [0, 1, 2])):
        lost = of_kv & (rows["scheme"] == scheme) & rows["seed"].isin(seeds)
        rows.loc[lost, "status"] = "not trained"
        rows.loc[lost, "value"] *= 0.1
    found = whole(rows)
    score = ranking.RETRIEVAL
    here = ranking.by_multiple(found, score)[2.0]
    table = summary(rows)["mean 2x"]
    for i, one in enumerate(found):
        assert here[i].mean() == pytest.approx(table[one.label])
        assert len(here[i]) == (2 if one.scheme == "rope" else 3)


def test_a_study_without_an_experiment_names_the_commands_that_asked_for_its_jobs(elsewhere):
    """Those that `extrap status` names, with all of their options."""
    asked = "extrap -m scheme=rope,alibi study=mine train.steps=9"
    for run in ("rope-1-s0", "alibi-1-s0"):
        Entry("mine", run, "direct", {"train": "1"}, asked).write()
    assert report.commands("mine") == [asked]
    assert report.commands("demo") == ["extrap experiment=demo"]


def test_runs_that_learned_nothing_are_told_in_the_first_sentence(frame):
    rows = frame(study_rows(("rope", "alibi"), (0, 1, 2)))
    lead = "No run here has learned retrieval within its training length: "
    assert lead not in page.page(rows, images=False)
    lost = rows.assign(status=rows["status"].mask(rows["task"] == "kv", "not trained"))
    said = page.page(lost[lost["task"] == "kv"], images=False)
    assert f'<p class="lead">{lead}' in said


def test_runs_of_other_steps_are_marked_in_the_leaderboard(frame):
    rows = frame(study_rows(("rope", "alibi"), (0, 1, 2)))
    assert "steps of training" not in page.page(rows, images=False)
    points = sorted(rows.loc[rows["axis"] == "step", "at"].unique())
    later = (rows["axis"] == "step") & (rows["at"] > points[1])
    board = page.page(rows[~later | (rows["scheme"] != "rope")], images=False)
    cells = re.findall(r'<td data-v="\d+">(\d+)</td></tr>', board)
    assert {f"{points[-1]:g}", f"{points[1]:g}"} <= {*cells}


def test_the_command_of_a_report_names_the_options_of_extensions(frame):
    rows = frame(study_rows(("rope",), (0,)))
    options = {"extension": "rerope,width=16", "factor": 4.0}
    command = sections.command(pd.concat([rows, rows.assign(**options)]))
    assert "extension=direct,rerope" in command and "extension.width=16" in command
    assert "extension.factor=4" in command and "which rows lack" in command


def test_runs_of_other_lengths_of_training_are_marked(frame):
    rows = frame(study_rows(("rope", "alibi"), (0,)))
    assert steps(rows) == ""
    curve = (rows["task"] == "train") & (rows["axis"] == "step") & (rows["scheme"] == "rope")
    fewer = rows.drop(rows.index[curve & (rows["at"] == rows.loc[curve, "at"].max())])
    assert steps(fewer) == "", "a curve of 14 points in place of 15 is no shorter training"
    rows.loc[curve, "at"] *= 3
    assert steps(rows).startswith("trained for ")
    assert steps(rows) in page.page(rows, images=False) and steps(rows) in table_text(rows)
    for name in ("loss_length", "kv_length"):
        made = figures.drawn(figures.available()[name], rows)
        notes = [text.get_text() for text in made.texts]
        assert any(steps(rows) in " ".join(note.split()) for note in notes)
