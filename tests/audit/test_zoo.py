"""What the audit measures of every scheme is what its card says and its contract tests check."""

from pathlib import Path

import pandas as pd
import pytest

from extrap.audit import distance, logits, zoo
from extrap.model.parts import kind
from tests.support.discover import names
from tests.support.exceptions import EXCUSED, PREFIX, SHIFT

RESULTS = Path(__file__).parents[2] / "results"
COMMITTED = pd.read_csv(RESULTS / "audit" / "audit.csv", index_col="scheme")


def subject(name):
    return zoo.subjects([name])[0]


@pytest.mark.sample(25)
@pytest.mark.parametrize("name", names("scheme"))
def test_shift_invariance_is_what_the_contract_says(name):
    found = subject(name)
    shifted = (logits.shift(by, found) for by in logits.SHIFTS.values())
    measured = (value for value in shifted if value == value)
    if kind(found.fresh.scheme) != "absolute" and (name, SHIFT) not in EXCUSED:
        assert max(measured) <= logits.SAME_SHIFTED
    else:  # the least shift tells; floater reaches the greatest in a million steps of its path
        assert next(measured) > logits.SAME_SHIFTED


@pytest.mark.parametrize("name", names("scheme"))
def test_what_is_defined_past_the_training_length_is_what_the_contract_says(name):
    found = subject(name)
    assert (distance.defined(found) > 1) == (found.drawn.scheme.limit >= 2 * logits.L)


@pytest.mark.parametrize("name", [name for name, check in EXCUSED if check == PREFIX])
def test_positions_that_move_as_the_text_grows_are_seen(name):
    assert logits.length(subject(name)) > logits.SAME_AT_ANY_LENGTH


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "name",
    [
        *("nope", "rope", "alibi", "sinusoidal", "learned", "xpos", "log-n", "tupe-a"),
        *("stick-breaking", "rope-sigmoid", "rope-asentmax", "chunked-nope", "linear-rope"),
        *("randomised-rope", "rope-gate"),
    ],
)
def test_verdicts_and_counts_are_those_of_the_committed_table(name):
    found, committed = zoo.audit([subject(name)]).loc[name], COMMITTED.loc[name]
    assert found["multiply_adds"] == pytest.approx(committed["multiply_adds"], rel=1e-3)
    assert (found["parameters"], found["kernel"]) == (committed["parameters"], committed["kernel"])
    for column in zoo.COLUMNS:
        known = committed[column.name]
        assert column.verdict(found[column.name]) == column.verdict(known), column.name


def test_every_property_has_a_head_of_its_own_and_says_what_it_is():
    columns = zoo.COLUMNS
    assert len({c.name for c in columns}) == len({c.head for c in columns}) == len(columns) > 15
    assert all(c.says and len(c.head) <= 9 for c in columns)


@pytest.mark.parametrize("name", ["rnope-swa", "two-bases", "every-fourth-nope", "hwfa"])
def test_layouts_are_measured_with_a_whole_period(name):
    assert len(subject(name).fresh.blocks) == 4 and len(subject("rope").fresh.blocks) == 2


def test_rounding_is_written_as_0():
    """Rounding of float64 and of float32, which differs between processors."""
    frame = zoo.audit([subject("nope"), subject("rope")])
    assert frame["same_at_any_length"].tolist()[0] == 0 and frame["norm"].tolist()[0] == 0
    assert not frame[["shift_3", "shift_1e2", "shift_1e4", "shift_1e6"]].to_numpy().any()
    exact = [shift for by in logits.SHIFTS.values() if (shift := logits.shift(by, subject("rope")))]
    assert exact and max(exact) < zoo.NOISE


def test_no_committed_value_is_rounding():
    numbers = COMMITTED.select_dtypes("number").abs()
    assert not ((numbers > 0) & (numbers < zoo.NOISE)).to_numpy().any()
