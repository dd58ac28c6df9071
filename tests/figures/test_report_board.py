"""The leaderboard of a report, its sentence, and marks of runs that it cannot rank alike."""

import re
from pathlib import Path

import pandas as pd
import pytest

from extrap import figures
from extrap.cli.table import text as table_text
from extrap.figures.report import html_page
from extrap.figures.report.text import number
from extrap.figures.report.verdict import sentence
from extrap.results import ranking
from extrap.results.beside import beside, differences, joined
from extrap.results.series import select, steps, whole
from extrap.results.summary import summary
from tests.support.plausible import run_rows, study_rows
from tests.support.tags import Tags


def test_seeds_below_the_gate_are_told_and_marked(frame):
    lost = [
        row | ({"status": "not trained"} if row["task"] == "kv" and row["seed"] == 1 else {})
        for row in study_rows(("rope",), (0, 1, 2))
    ]
    said = html_page.page(frame(lost), images=False)
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
    one = html_page.page(frame(study_rows(("rope", "alibi"), (0,))), images=False)
    assert "With fewer than three seeds, this order may be chance." in one
    found = frame([one for seed in range(3) for one in run_rows("alibi", seed=seed)])
    twins = pd.concat([found, found.assign(scheme="twin", run="twin-" + found["run"])])
    assert "do not tell it apart from <b>twin</b>" in html_page.page(twins, images=False)


def test_a_length_that_is_no_power_of_two_is_reached_as_well(frame):
    rows = frame(study_rows(("alibi",), (0, 1, 2)))
    numbers = {"train_length": 80, "length": rows["length"] * 80 // 64, "value": rows["value"]}
    found_at = (rows["task"] == "kv") & (rows["metric"] == "accuracy")
    rows = rows.assign(**numbers | {"value": rows["value"].mask(found_at, 0.95)})
    assert "1 of 1 series keep 85 %" in html_page.page(rows, images=False)


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


def test_runs_that_learned_nothing_are_told_in_the_first_sentence(frame):
    rows = frame(study_rows(("rope", "alibi"), (0, 1, 2)))
    lead = "No run here has learned retrieval within its training length: "
    assert lead not in html_page.page(rows, images=False)
    lost = rows.assign(status=rows["status"].mask(rows["task"] == "kv", "not trained"))
    said = html_page.page(lost, images=False)
    assert f'<p class="lead">{lead}' in said


def test_an_unknown_number_of_parameters_is_none(frame):
    """A function and an engine have 0 in rows, rows of others nothing."""
    known = frame(study_rows(("rope", "alibi"), (0,)))
    for unknown in (0, pd.NA):
        sizes = known["params"].mask(known["scheme"] == "rope", unknown).astype("Int64")
        said = html_page.page(known.assign(params=sizes), images=False)
        lines = re.findall(r"<tr class=.*?</tr>", said)
        assert sorted(re.findall(r">([^<>]*)</td></tr>", "".join(lines))) == ["-", "173,000"]
        assert "parameters, others" not in said and 'data-size="0"' not in said


def test_a_candidate_that_ends_before_the_length_of_the_ranks_has_none(frame):
    """A table of positions ends at L."""
    rows = frame(study_rows(("rope", "alibi", "learned"), (0, 1, 2))).assign(config="known")
    own = rows["scheme"] == "learned"
    rows = rows.assign(study=own.map({True: "judge", False: "reference"}), sheet=rows["run"])
    found = beside(joined(rows[own], rows[~own]), "judge", "learned", "known")
    said = sentence(found, differences(found, lambda stem: (Path(stem), None)))
    assert re.fullmatch(
        r"learned was not read as far as 4 L, where 2 others are ranked by retrieval accuracy "
        r"\(records\): at L it has 0\.2.*; 3 seeds below the gate, so that .*length\.",
        said,
    )


def test_runs_of_other_steps_are_marked_in_the_leaderboard(frame):
    rows = frame(study_rows(("rope", "alibi"), (0, 1, 2)))
    assert "steps of training" not in html_page.page(rows, images=False)
    points = sorted(rows.loc[rows["axis"] == "step", "at"].unique())
    later = (rows["axis"] == "step") & (rows["at"] > points[1])
    board = html_page.page(rows[~later | (rows["scheme"] != "rope")], images=False)
    cells = re.findall(r'<td data-v="\d+">(\d+)</td></tr>', board)
    assert {f"{points[-1]:g}", f"{points[1]:g}"} <= {*cells}


def test_runs_of_other_lengths_of_training_are_marked(frame):
    rows = frame(study_rows(("rope", "alibi"), (0,)))
    assert steps(rows) == ""
    curve = (rows["task"] == "train") & (rows["axis"] == "step") & (rows["scheme"] == "rope")
    fewer = rows.drop(rows.index[curve & (rows["at"] == rows.loc[curve, "at"].max())])
    assert steps(fewer) == "", "a curve of 14 points in place of 15 is no shorter training"
    rows.loc[curve, "at"] *= 3
    assert steps(rows).startswith("trained for ")
    assert steps(rows) in html_page.page(rows, images=False) and steps(rows) in table_text(rows)
    for name in ("loss_length", "kv_length"):
        made = figures.drawn(figures.available()[name], rows)
        notes = [text.get_text() for text in made.texts]
        assert any(steps(rows) in " ".join(note.split()) for note in notes)
