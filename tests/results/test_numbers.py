"""Every number in the texts about results is in the rows, or is said to be none of theirs."""

from pathlib import Path

import pytest

from extrap.cli import findings
from extrap.results.findings import numbers
from extrap.results.rows import frame
from extrap.utils.errors import UserError
from tests.results.test_verdict import row

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
WITHOUT_ROWS = {"LOG.md": "dated numbers of runs that left no rows, as its first lines say"}
TEXTS = [ROOT / "README.md", *RESULTS.glob("*.md"), *RESULTS.glob("**/README.md")]
CHECKED = sorted(path for path in TEXTS if path.name not in WITHOUT_ROWS)


@pytest.mark.parametrize("path", CHECKED, ids=[str(path.relative_to(ROOT)) for path in CHECKED])
def test_a_text_holds_no_number_that_is_declared_nowhere(path):
    folder = RESULTS if path.parent == ROOT else path.parent
    assert not numbers.undeclared(path.read_text(), folder), f"declare them in {folder}"


def test_the_numbers_of_texts_are_those_of_the_rows():
    """Written by `make tables`. What belongs to no study has no rows, hence nothing measured."""
    assert not numbers.declared(RESULTS)["numbers"]
    for path, text in findings.texts(RESULTS).items():
        assert text == path.read_text(), path


ROWS = [row(scheme, seed, 4, value) for scheme, value in (("rope", 0.4), ("alibi", 0.8))
        for seed in range(3)]  # fmt: skip
SAID = """
common: {task: kv, metric: accuracy}
numbers:
- text: "finds {}, RoPE {} ({} of it)"
  multiple: 4
  each: [{scheme: alibi}, {scheme: rope}, {terms: [{scheme: rope, times: -1}], take: exp}]
not_measured:
- {text: a rate of .001, reason: an option}
"""
OLD = "ALiBi finds .1,\n  RoPE 0.25 (7.0 of it) at a rate of .001."


def folder(tmp_path, said=SAID):
    (tmp_path / numbers.FILE).write_text(said)
    return tmp_path


def test_numbers_are_filled_in_with_the_decimals_that_are_printed(tmp_path):
    new = numbers.filled(OLD, folder(tmp_path), frame(ROWS))
    assert new == "ALiBi finds .8,\n  RoPE .40 (.7 of it) at a rate of .001."


def test_a_decimal_is_declared_or_said_to_be_not_measured(tmp_path):
    where = folder(tmp_path)
    assert numbers.undeclared(OLD, where) == []
    found = numbers.undeclared(OLD + " T5 finds .97, and -.3 less.", where)
    assert [one.split()[0] for one in found] == [".97", "-.3"]
    units = numbers.undeclared("5.7x, 1.5L, .1-.2, 3.1/.9, of .0015, a rate of .0011", where)
    assert " ".join(one.split()[0] for one in units) == "5.7 1.5 .1 .2 3.1 .9 .0015 .0011"
    plain = "`x=.5` of arXiv 2305.19466, [a](b/.5.md) and <!-- t -->\n.3 <!-- /t --> in 40 tokens"
    assert numbers.undeclared(plain, where) == []


def test_a_sentence_speaks_for_the_numbers_that_it_leaves_open_alone(tmp_path):
    """What stands in it written out is not read from the rows."""
    said = "numbers:\n- {text: 'at .5 it finds {}', scheme: rope, each: [{metric: accuracy}]}"
    found = numbers.undeclared("at .5 it finds .40", folder(tmp_path, said))
    assert [one.split()[0] for one in found] == [".5"]


def test_a_full_stop_behind_a_whole_number_stays(tmp_path):
    said = "common: {task: kv, metric: accuracy, multiple: 4}\nnumbers:\n"
    said += "- {text: 'finds {}', each: [{scheme: rope}]}"
    assert numbers.filled("It finds 7.", folder(tmp_path, said), frame(ROWS)) == "It finds 0."


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("finds {}", "found {}", "stands 0 times"),
        (", {scheme: rope}", "", "each"),
        ("scheme: rope", "scheme: fire", "no rows of"),
        ("take: exp", "take: log", "take=log"),
        ("multiple: 4", "multiples: 4", "multiples"),
    ],
)
def test_a_mistake_names_the_file_and_the_sentence(tmp_path, old, new, said):
    with pytest.raises(UserError, match=f"{numbers.FILE}.*{said}"):
        numbers.filled(OLD, folder(tmp_path, SAID.replace(old, new)), frame(ROWS))


def test_what_is_not_measured_has_a_reason(tmp_path):
    with pytest.raises(UserError, match="reason"):
        numbers.undeclared(OLD, folder(tmp_path, SAID.replace(", reason: an option", "")))


@pytest.mark.parametrize("text", ["numbers: {a: 1}", "numbers: [3]", "numbers: [{text: a}]"])
def test_an_entry_that_is_none_is_one_line(text, tmp_path):
    with pytest.raises(UserError, match="numbers: a list, each with each and text"):
        numbers.declared(folder(tmp_path, text))


def test_numbers_without_a_text_are_one_line(tmp_path):
    (tmp_path / "mine").mkdir()
    folder(tmp_path / "mine")
    with pytest.raises(UserError, match=r"README\.md, whose numbers it declares, is missing"):
        findings.texts(tmp_path)
