"""Effective length: by hand, by its definition on curves, and from rows."""

import numpy as np
import pandas as pd
import pytest

from extrap.results.effective import crossing, effective, effective_lengths
from extrap.results.series import select, whole
from tests.support.plausible import run_rows


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({64: 0.8, 128: 0.7, 256: 0.69}, (256, True)),  # .68 is the bar: the base counts, not 1
        ({64: 0.8, 128: 0.1}, (64 * 2 ** (0.12 / 0.7), False)),
        ({32: 0.1, 64: 1.0, 128: 1.0}, (128, True)),  # shorter lengths have no say
        ({64: 1.0, 128: np.nan, 256: 0.0}, (64 * 4 ** (0.15 / 1.0), False)),
    ],
)
def test_the_first_failing_length_ends_it(scores, expected):
    assert crossing(pd.Series(scores), 64) == (pytest.approx(expected[0]), expected[1])


def test_without_the_base_there_is_none():
    assert np.isnan(crossing(pd.Series({128: 1.0}), 64)[0])


@pytest.mark.parametrize("scores", [{64: 0.0, 128: 0.0, 256: 0.0}, {64: 0.0, 128: 0.5}])
def test_a_model_that_scores_nothing_has_none(scores):
    """.85 of nothing is nothing, which no length falls below."""
    assert np.isnan(crossing(pd.Series(scores), 64)[0])
    found = effective(pd.DataFrame(curve("a", scores)))
    assert np.isnan(found.tokens) and str(found) == "-"


def test_a_base_below_the_bar_has_the_training_length():
    assert crossing(pd.Series({64: 0.7, 128: 0.84}), 64, 0.765) == (64, False)


def curve(run, values, half=0.05, train_length=64):
    return [{"run": run, "length": n, "train_length": train_length, "value": v,
             "low": v - half, "high": v + half} for n, v in values.items()]  # fmt: skip


def test_one_seed_has_the_interval_of_its_scores():
    """From .95 at 2^7 to .75 at 2^8 the score meets .85 half way; what comes later has no say."""
    found = effective(pd.DataFrame(curve("a", {64: 1.0, 128: 0.95, 256: 0.75, 512: 0.9})))
    assert found.tokens == pytest.approx(2**7.5)
    assert (found.low, found.high) == (pytest.approx(2**7.25), pytest.approx(2**7.75))
    assert (found.least, str(found)) == (False, "181")


def test_seeds_have_students_interval_over_log2_and_open_ends_stay_open():
    ends = (0.75, 0.55, 0.35)
    three = [row for i, end in enumerate(ends) for row in curve(i, {64: 1.0, 128: 0.95, 256: end})]
    found = effective(pd.DataFrame(three))
    logs = [7 + 0.1 / (0.95 - end) for end in ends]
    half = 4.302653 * np.std(logs, ddof=1) / np.sqrt(3)
    assert np.log2([found.tokens, found.low, found.high]) == pytest.approx(
        [np.mean(logs), np.mean(logs) - half, np.mean(logs) + half], rel=1e-6
    )
    some = effective(pd.DataFrame(three + curve(3, {64: 1.0, 128: 0.95, 256: 0.9})))
    assert some.least and some.high == np.inf and str(some).startswith(">=")
    two = effective(pd.DataFrame([row for row in three if row["run"] < 2]))
    assert np.isnan(two.low) and not np.isnan(two.tokens)


def test_rows_of_a_study_have_one_for_each_task_and_none_below_the_gate(frame):
    (found,) = whole(frame(run_rows("t5")))
    lengths = effective_lengths(found)
    assert set(lengths) == {("kv", "records"), ("kv", "padded")}
    records = select(found.rows, task="kv", protocol="records", metric="accuracy")
    means = records[records["depth"].notna()].groupby("length")["value"].mean()
    assert lengths["kv", "records"].tokens == crossing(means, 64)[0]
    (failed,) = whole(frame(run_rows("nope")))
    assert not effective_lengths(failed)


def test_a_length_at_which_a_trained_run_diverges_has_failed(frame):
    """Its logits are no numbers there: left out, a shorter length would stand as a lower bound."""
    rows = run_rows("kerple-log")

    def lost(row):
        far = row["task"] == "kv" and (row.get("length") or 0) >= 256
        none = {"value": np.nan, "low": np.nan, "high": np.nan, "status": "diverged"}
        return row | none if far else row

    (found,) = whole(frame(list(map(lost, rows))))
    near = {row["length"] for row in rows if row["task"] == "kv" and row.get("length")}
    assert {64, 128, 256} <= near
    length = effective_lengths(found)["kv", "records"]
    assert 128 < length.tokens < 256 and not length.least
    every = [row | {"status": "not trained"} if row["task"] == "kv" else row for row in rows]
    (failed,) = whole(frame(list(map(lost, every))))
    assert not effective_lengths(failed)
