"""The gallery: every entry has its figure and a command that parses, its numbers are those of the
rows, and numbers alone decide the verdict.
"""

import json
import re
import shlex
from collections import Counter
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from extrap import figures
from extrap.cli.composed import composed
from extrap.results.findings.gallery import (
    OPPOSITE,
    SAME,
    SILENT,
    Shown,
    drawing,
    entries,
    gallery,
    page,
    shown,
)
from extrap.results.findings.verdict import table
from extrap.results.places import place
from extrap.results.rows import open_study
from extrap.utils.errors import UserError
from tests.support.plausible import run_rows

RESULTS = Path(__file__).parents[2] / "results"
ENTRIES = entries(RESULTS)
MULTIPLE = "&&"


@pytest.mark.turns
def test_the_page_is_that_of_the_rows_and_claims_no_more_figures_than_it_shows():
    @cache
    def rows(study: str) -> pd.DataFrame:
        return table(open_study(RESULTS, study))

    text = (RESULTS / "gallery" / "README.md").read_text()
    assert page(RESULTS, rows) == text, "write it again with extrap findings --write"
    counts = Counter(one.verdict for one in gallery(RESULTS, rows))
    form = r"of (\d+) figures .*?(\d+) are the same, (\d+) are .*?(\d+) this"
    claimed = re.search(form, text, re.DOTALL)
    assert claimed is not None
    total, *parts = map(int, claimed.groups())
    assert (sum(parts), len(ENTRIES)) == (total, total) and total >= 30
    assert [counts[verdict] for verdict in (SAME, OPPOSITE, SILENT)] == parts
    assert text.count("[figure](") == sum("draw" in one for one in ENTRIES)


def test_every_figure_exists_and_every_command_parses():
    known = figures.available() | figures.available(formulas=True)
    assert len({one["id"] for one in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        file = drawing(RESULTS, entry)
        assert file is None or file.is_file(), entry["id"]
        assert file is None or file.stem in known
        assert file is not None or "command" in entry, entry["id"]
        for command in Shown(entry, "", [], "").command.split(MULTIPLE):
            program, *words = shlex.split(command)
            assert program == "extrap"
            if words[0] == "plot":
                study, name = words[1:3]
                study = "analytic" if study == "--analytic" else study
                assert name in known and place(RESULTS, study).is_dir()
            else:
                one = [word.partition(",")[0] for word in words if "=" in word]
                assert composed(one).values["stage"] is not None


FORM = {"id": "a", "paper": "A", "arxiv": "1", "what": "w", "claims": "c"}


@pytest.fixture
def rows(frame):
    made = table(frame(run_rows("alibi") + run_rows("rope")))
    return lambda study: made


def test_numbers_decide(rows):
    common = {"study": "demo", "task": "nll", "metric": "nll", "protocol": "sliding"}
    common |= {"multiple": 4, "take": "exp", "learned": False}
    entry = FORM | {"ours": "ALiBi {:.1f}, RoPE {:.1f}", "common": common}
    entry |= {"each": [{"scheme": "alibi"}, {"scheme": "rope"}]}
    told = {
        str(expect): shown(entry | {"expect": expect}, rows, "here").verdict
        for expect in ("rising", "falling", {"above": 1}, {"below": 1})
    }
    assert [*told.values()] == [SAME, OPPOSITE, SAME, OPPOSITE]
    first = {"expect": {"below": 10}, "judged": 1}
    assert shown(entry | first, rows, "here").verdict == SAME
    sentence = shown(entry | {"expect": "rising"}, rows, "here").sentence
    own = rows("demo")
    own = own[(own["protocol"] == "sliding") & (own["multiple"] == 4) & (own["metric"] == "nll")]
    alibi = own.loc[own["scheme"] == "alibi", "value"].mean()
    assert sentence.startswith(f"ALiBi {2.718281828**alibi:.1f},")
    with pytest.raises(UserError, match="1 places for 2 numbers"):
        shown(entry | {"expect": "rising", "ours": "{}"}, rows, "here")
    with pytest.raises(UserError, match="rising, falling"):
        shown(entry | {"expect": "up"}, rows, "here")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"by": "none"}, "why belongs to by: none"),
        ({}, "either expect or by"),
        ({"expect": "rising", "claims": 3}, "claims is missing"),
    ],
)
def test_an_entry_that_does_not_fit_is_one_line(tmp_path, change, line):
    (tmp_path / "gallery").mkdir()
    text = json.dumps({"figures": [FORM | {"ours": "o"} | change]})
    (tmp_path / "gallery" / "figures.yaml").write_text(text)
    with pytest.raises(UserError, match=line):
        entries(tmp_path)
