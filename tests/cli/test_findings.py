"""`extrap findings`: verdicts in the terminal, in JSON and in results/FINDINGS.md."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from extrap.cli import experiments, findings
from extrap.results.findings import markdown_pages
from extrap.results.findings.markdown_pages import summary, survive
from extrap.results.findings.statement import FILE, read
from extrap.results.places import place
from extrap.results.stats.paired import holm

RESULTS = Path(__file__).resolve().parents[2] / "results"
judged = cache(markdown_pages.judged)


def test_the_terminal_and_json_say_the_same(capsys):
    findings.main(["zoo-misses", "--results", str(RESULTS)])
    said = capsys.readouterr().out
    findings.main(["zoo-misses", "--results", str(RESULTS), "--json"])
    told = json.loads(capsys.readouterr().out)["statements"]
    lines = said.splitlines()
    assert [line.split()[0] for line in lines[1 : len(told) + 1]] == [
        one["verdict"] for one in told
    ]
    assert all(f"{one['effect']:.3f}" in lines[i + 1] for i, one in enumerate(told))


def test_a_study_that_is_declared_and_has_no_rows_has_a_page_that_says_so(tmp_path):
    results = tmp_path / "results"
    study = results / "zoo-misses"
    study.mkdir(parents=True)
    shutil.copy(place(RESULTS, "zoo-misses") / FILE, study)
    (results / "README.md").write_text("mine")
    (study / "README.md").write_text("<!-- answer -->\n<!-- /answer -->\n")
    says = '{says: "It finds {}.", each: [{task: kv, metric: accuracy, scheme: rope}]}'
    (study / "numbers.yaml").write_text(f"running: true\nanswer: [{says}]\n")
    assert "Not measured yet" in markdown_pages.written(results)[study / "README.md"]


def test_a_study_that_still_runs_has_no_verdict_on_a_page(tmp_path, capsys):
    results = tmp_path / "results"
    shutil.copytree(place(RESULTS, "zoo-misses"), results / "zoo-misses")
    (results / "README.md").write_text("mine")
    pages = {}
    for running in (True, False):
        (results / "zoo-misses" / "numbers.yaml").write_text(f"running: {str(running).lower()}\n")
        pages[running] = markdown_pages.written(results)[results / "FINDINGS.md"]
    count = len(read(results / "zoo-misses"))
    assert f"{count} statements: {count} not measured." in pages[True]
    assert "**" not in pages[True].partition("## zoo-misses")[2]
    assert f"{count} not measured." not in pages[False]
    findings.main(["zoo-misses", "--results", str(results)])
    assert "not measured" not in capsys.readouterr().out, "so far, in the terminal"


def test_a_twin_is_counted_once():
    found = judged(RESULTS, "reference")
    assert "55 statements, 1 of them counted with its twin: " in markdown_pages.summary(found)
    counts = markdown_pages.summary(found).split(": ")[1]
    assert sum(int(word) for word in counts.rstrip(".").split() if word.isdigit()) == 54


def test_every_twin_has_the_effect_of_the_statement_that_is_counted():
    every = {study: read(place(RESULTS, study)) for study in markdown_pages.declared(RESULTS)}
    for study in [study for study, found in every.items() if any(one.twin for one in found)]:
        found = {one.statement.id: one for one in judged(RESULTS, study)}
        for one in found.values():
            if one.statement.twin:
                assert one.effect == pytest.approx(found[one.statement.twin].effect)


def test_a_part_without_a_page_is_counted_on_that_of_the_whole(tmp_path):
    results = tmp_path / "results"
    for study in ("s", "s/part", "s/other"):
        (results / study / "rows").mkdir(parents=True)
        entry = "id: a, says: b, source: c, rows: {task: nll}, above: 1"
        (results / study / "findings.yaml").write_text(f"statements: [{{{entry}}}]")
    page = "<!-- declared -->\n<!-- /declared -->"
    (tmp_path / "README.md").write_text("mine <!-- leaderboard -->")
    (results / "README.md").write_text("mine")
    for study in ("s", "s/other"):
        (results / study / "README.md").write_text(page)
    findings.main(["--write", "--results", str(results)])
    whole, other = ((results / one / "README.md").read_text() for one in ("s", "s/other"))
    assert "[part](../FINDINGS.md#part): 1 statements: 1 not measured." in whole
    assert "[s](../FINDINGS.md#s)" in whole and "[other]" not in whole
    assert "[other](../../FINDINGS.md#other)" in other and "[part]" not in other
    assert (tmp_path / "README.md").read_text() == "mine <!-- leaderboard -->"
    assert (results / "README.md").read_text() == "mine"


def test_a_design_that_cannot_decide_is_told_before_any_row(tmp_path, monkeypatch):
    (tmp_path / "s" / "rows").mkdir(parents=True)
    entry = "id: a, says: b, source: c, rows: {task: nll}, above: 1"
    (tmp_path / "s" / "findings.yaml").write_text(f"statements: [{{{entry}}}]")
    for planned, said in ((2, True), (3, False), (0, False)):
        monkeypatch.setattr(findings, "seeds", lambda study, n=planned: n)
        text = findings.text(tmp_path, "s")
        assert ("a: cannot be decided by design: two seeds support no interval" in text) == said


def test_the_seeds_of_a_study_are_those_of_its_grids():
    assert (experiments.seeds("disputes"), experiments.seeds("base")) == (5, 3)
    assert experiments.seeds("no-such-study") == 0


def test_what_survives_is_counted_over_all_statements_with_an_interval():
    found = [one for one in judged(RESULTS, "disputes") if np.isfinite(one.p)]
    every = survive(found)
    assert f"all {len(found)} statements" in every
    adjusted = holm(np.array([one.p for one in found]))
    kept = sum(p <= 0.05 and one.verdict == "holds" for p, one in zip(adjusted, found, strict=True))
    assert f"that hold, {kept} survive Holm" in every
    assert survive([]) == ""


def test_badly_put_and_undecided_by_design_are_counted():
    assert "badly put" in summary(judged(RESULTS, "disputes"))
    assert "by design" in summary(judged(RESULTS, "zoo-new"))
