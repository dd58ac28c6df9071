"""`extrap findings`: verdicts in the terminal, in JSON and in results/FINDINGS.md."""

import json
from functools import cache
from pathlib import Path

import pytest

from extrap.cli import findings
from extrap.results.findings import page
from extrap.results.findings.statement import read
from extrap.results.places import place

RESULTS = Path(__file__).resolve().parents[2] / "results"
judged = cache(page.judged)


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


def test_a_twin_is_counted_once():
    found = judged(RESULTS, "reference")
    assert "55 statements, 1 of them counted with its twin: " in page.summary(found)
    counts = page.summary(found).split(": ")[1]
    assert sum(int(word) for word in counts.rstrip(".").split() if word.isdigit()) == 54


def test_every_twin_has_the_effect_of_the_statement_that_is_counted():
    every = {study: read(place(RESULTS, study)) for study in page.declared(RESULTS)}
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
