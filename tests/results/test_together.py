"""Several studies on one page: labelled where names meet, refused where they cannot be compared."""

from pathlib import Path

import pytest

from extrap.results.rows import comparable, write
from extrap.results.series import series
from extrap.results.together import together
from extrap.utils.errors import UserError
from tests.support.plausible import study_rows


def kept(study: str, schemes: tuple[str, ...], **columns) -> None:
    rows = [row | {"study": study} | columns for row in study_rows(schemes, (0, 1))]
    write(Path("results", study, "rows", "a.csv"), rows)


@pytest.mark.usefixtures("elsewhere")
def test_a_series_of_two_studies_is_named_after_its_study_as_well() -> None:
    kept("mine", ("rope", "alibi"))
    kept("theirs", ("rope", "nope"))
    rows = together(Path("results"), ["mine", "theirs"])
    labels = {s.scheme for s in series(rows.assign(status="ok"))}
    assert labels == {"rope-mine", "rope-theirs", "alibi", "nope"}
    Path("results/theirs/rows/a.csv").rename("others.csv")
    by_file = together(Path("results"), ["mine", "others.csv"])
    assert {*by_file["study"]} == {"mine", "others"} and len(by_file) == len(rows)
    assert len(together(Path("results"), ["mine"])) == (rows["study"] == "mine").sum()


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    "change, line",
    [
        ({"corpus": "abc"}, "corpus: other text: mine has .*, theirs abc; show each by itself"),
        (
            {"tokens": 640},
            r"task.nll: other documents, .*: tokens \d+ in mine, \d+ in theirs",
        ),
        ({"chance": 0.5}, r"task.kv: other questions.*: chance 0\.\d+ in mine, 0\.5 in theirs"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(change: dict, line: str) -> None:
    kept("mine", ("rope",))
    rows = [row | {"study": "theirs"} for row in study_rows(("alibi",), (0, 1))]
    for row in rows:
        if "corpus" in change:
            row["corpus"] = change["corpus"]
        if "tokens" in change and row["task"] == "nll":
            row["tokens"] = (row.get("tokens") or 100) + change["tokens"]
        if "chance" in change and row["metric"] == "chance":
            row["value"] = change["chance"]
    write(Path("results/theirs/rows/a.csv"), rows)
    with pytest.raises(UserError, match=line):
        together(Path("results"), ["mine", "theirs"])
    with pytest.raises(UserError, match="STUDY=mine: given twice"):
        together(Path("results"), ["mine", "mine"])


@pytest.mark.usefixtures("elsewhere")
def test_rows_that_were_asked_at_other_depths_are_refused() -> None:
    """Their means over depths are of other questions."""
    kept("mine", ("rope",))
    rows = [row | {"study": "theirs"} for row in study_rows(("alibi",), (0, 1))]
    fewer = [row for row in rows if row.get("depth") != 0.5]
    write(Path("results/theirs/rows/a.csv"), fewer)
    line = r"task.kv: other depths, \w+ \d+ tokens: depth 0.5 in mine alone; show each by itself"
    with pytest.raises(UserError, match=line):
        together(Path("results"), ["mine", "theirs"])


@pytest.mark.usefixtures("elsewhere")
def test_rows_of_two_people_under_one_name_are_two_series() -> None:
    kept("demo", ("rope", "alibi"))
    theirs = [row | {"study": "demo"} for row in study_rows(("rope",), (0, 1))]
    write(Path("theirs", "demo", "rows", "a.csv"), theirs)
    rows = together(Path("results"), ["demo", "theirs/demo"])
    assert {*rows["study"]} == {"demo", "demo-2"}
    assert {s.scheme for s in series(rows)} == {"rope-demo", "rope-demo-2", "alibi"}
    with pytest.raises(UserError, match="demo: given twice"):
        together(Path("results"), ["demo", "results/demo"])


@pytest.mark.usefixtures("elsewhere")
def test_every_two_of_three_studies_are_held_together() -> None:
    kept("a", ("rope",))
    rows = [row | {"study": "b"} for row in study_rows(("nope",), (0, 1)) if row["task"] == "nll"]
    write(Path("results", "b", "rows", "a.csv"), rows)
    rows = [row | {"study": "c"} for row in study_rows(("alibi",), (0, 1))]
    rows = [row | ({"value": 0.5} if row["metric"] == "chance" else {}) for row in rows]
    write(Path("results", "c", "rows", "a.csv"), rows)
    with pytest.raises(UserError, match=r"chance 0\.\d+ in a, 0\.5 in c"):
        together(Path("results"), ["a", "b", "c"])


@pytest.mark.usefixtures("elsewhere")
def test_seeds_of_a_model_in_two_studies_may_have_other_hashes_and_lengths() -> None:
    kept("mine", ("rope",))
    kept("theirs", ("rope",), config="other")
    rows = together(Path("results"), ["mine", "theirs"])
    assert len(comparable(rows)) == len(rows)
    longer = [row | {"study": "theirs"} for row in study_rows(("alibi",), (0, 1))]
    for row in [row for row in longer if row["task"] == "nll"]:
        more = {"run": "longer-s0", "scheme": "longer", "train_length": 2 * row["train_length"]}
        longer.append(row | more | {"tokens": 10 * (row.get("tokens") or 100)})
    write(Path("results/theirs/rows/b.csv"), longer)
    assert "longer" in {*together(Path("results"), ["mine", "theirs"])["scheme"]}
