"""Series: who is drawn as one line, what its name says, and what its interval is."""

import numpy as np
import pandas as pd
import pytest

from extrap.results.series import judged, select, series, spread, where_known
from extrap.results.stats.intervals import t_interval
from extrap.results.summary import summary
from extrap.utils.errors import UserError
from tests.support.plausible import run_rows

LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding"}
ACCURACY = {"task": "kv", "metric": "accuracy", "protocol": "records"}


def labels(rows):
    return [s.label for s in series(rows)]


def test_trained_first_then_controls_then_the_rest(demo):
    retrieval = select(demo, seen="retrieval", **ACCURACY)
    assert labels(retrieval) == [
        "alibi",
        "kerple-log",
        "rope",
        "t5",
        "alibi (retrieval only)",
        "rope (retrieval only)",
        "learned – below the gate",
        "nope – below the gate",
        "sinusoidal – below the gate",
    ]
    assert labels(select(demo, seen="text", **LOSS))[-2:] == [
        "alibi (text only)",
        "rope (text only)",
    ]


def test_extension_and_factor_are_named(frame):
    rows = frame(
        run_rows("rope")
        + run_rows("rope", extension="ntk", factor=4)
        + run_rows("rope", extension="window")
    )
    assert labels(select(rows, **LOSS)) == ["rope", "rope + ntk x4", "rope + window"]


def test_a_factor_that_follows_the_length_is_one_series(frame):
    adaptive = [
        row | {"factor": max(1, row.get("length", 64) / 64)}
        for row in run_rows("rope", extension="pi-adaptive")
    ]
    assert labels(select(frame(run_rows("rope") + adaptive), **LOSS)) == [
        "rope",
        "rope + pi-adaptive",
    ]


def test_settings_are_named_only_where_they_tell_runs_apart(frame):
    one, other = run_rows("rope"), run_rows("rope", settings="beef4567")
    assert labels(select(frame(one + run_rows("rope", 1)), **LOSS)) == ["rope"]
    assert labels(select(frame(one + other + run_rows("t5")), **LOSS)) == [
        "rope [beef4567]",
        "rope [cafe0123]",
        "t5",
    ]
    assert labels(
        select(frame(one + run_rows("rope", settings="beef4567", train_length=32)), **LOSS)
    ) == ["rope L=32", "rope L=64"]


def test_untrained_seeds_form_a_series_of_their_own(frame):
    rows = frame(run_rows("rope") + run_rows("rope", 1) + run_rows("rope", 2, status="not trained"))
    trained, other = series(select(rows, **ACCURACY))
    assert (trained.label, other.label) == (
        "rope (2 of 3 seeds)",
        "rope – below the gate (1 of 3 seeds)",
    )
    assert trained.ok
    assert not other.ok
    assert set(trained.rows["seed"]) == {0, 1}
    assert labels(select(rows, **LOSS)) == ["rope"]


def test_two_seeds_have_no_interval_and_three_their_mean_and_its_t_interval(frame):
    rows = select(frame([row for seed in (0, 1, 5) for row in run_rows("rope", seed)]), **LOSS)
    two, three = spread(rows[rows["seed"] < 2], "length"), spread(rows, "length")
    assert two[["low", "high"]].isna().all(axis=None)
    values = rows.loc[rows["length"] == 256, "value"].to_numpy()
    assert three.loc[256, "value"] == pytest.approx(np.mean(values)) != np.median(values)
    assert tuple(three.loc[256, ["low", "high"]]) == pytest.approx(t_interval(values))


def test_the_interval_of_a_share_ends_at_0_and_1_and_that_of_a_loss_does_not(frame):
    values = {0: 0.02, 1: 0.9, 2: 0.95, 3: 0.97, 4: 0.99}
    for asked in (ACCURACY, LOSS):
        one = [
            select(frame(run_rows("rope", seed)), length=64, **asked).iloc[:1].assign(value=x)
            for seed, x in values.items()
        ]
        curve = spread(pd.concat(one), "length").iloc[0]
        low, high = t_interval(list(values.values()))
        assert curve["value"] == pytest.approx(np.mean(list(values.values())))
        assert (curve["low"], curve["high"]) == pytest.approx(
            (low, min(high, 1) if asked is ACCURACY else high)
        )


def test_who_was_trained_is_what_the_plain_reading_of_the_same_protocol_says(frame):
    plain, lost = run_rows("rope"), run_rows("rope", extension="pi", factor=8, status="not trained")
    assert labels(select(frame(plain + lost), **ACCURACY)) == ["rope", "rope + pi x8"]
    assert judged(frame(plain + lost)).eq("ok").all()
    assert "below the gate" not in summary(frame(plain + lost)).loc["rope + pi x8", "verdict"]
    for other in (
        run_rows("rope", status="not trained"),
        run_rows("rope", 1),
        run_rows("rope", data="text"),
    ):
        assert "rope + pi x8 – below the gate" in labels(select(frame(other + lost), **ACCURACY))
    one = [
        row | ({"status": "not trained"} if row.get("protocol") == "padded" else {})
        for row in plain
    ]
    assert {s.status for s in series(select(frame(one + lost), task="kv", protocol="padded"))} == {
        "not trained"
    }
    assert {s.status for s in series(select(frame(one + lost), **ACCURACY))} == {"ok"}
    diverged = [row | {"status": "diverged"} for row in lost]
    assert judged(frame(plain + diverged)).eq("diverged").sum() == len(lost)


def test_each_run_is_looked_into_where_it_is_known():
    """One within its training length beside one at it; neither hides the other."""
    asked = [("small", 64, 64), ("small", 128, 64), ("big", 512, 8192), ("big", 1024, 8192)]
    rows = pd.DataFrame(asked, columns=["run", "length", "train_length"])
    assert [*where_known(rows).itertuples(index=False, name=None)] == [asked[0], asked[2]]


def test_seeds_that_were_asked_with_other_options_have_no_mean(frame):
    """The name of a file does not say with which options a task was asked."""
    other = [row | {"config": "0123"} for row in run_rows("rope", seed=1) if row["task"] == "kv"]
    with pytest.raises(UserError, match=r"task.kv: rope-\w+-s0 and rope-\w+-s1 were measured with"):
        series(frame(run_rows("rope") + other))
    at_4 = [row | {"extension": "pi", "factor": 4.0, "config": "4"} for row in run_rows("rope")]
    follows = [r | {"extension": "pi", "factor": f, "config": "f"} for r in at_4 for f in (1, 8)]
    series(frame(run_rows("rope") + at_4 + run_rows("rope", seed=1) + run_rows("alibi")))
    assert len(series(frame(at_4 + follows))) == 2


def test_a_training_loss_is_that_of_the_last_point_of_each_seed(frame):
    """Seeds may be logged more or less often."""
    rows, less = run_rows("rope"), run_rows("rope", seed=1)
    point = {"task": "train", "axis": "step", "metric": "nll", "protocol": "text"}
    own = [rows[0] | point | {"at": at, "value": 2.0} for at in (80.0, 100.0)]
    own.append(less[0] | point | {"at": 80.0, "value": 4.0})
    kept = [row for row in rows + less if row["task"] != "train"]
    assert summary(frame(kept + own))["trained text"].item() == pytest.approx(3.0)


def test_two_settings_of_a_scheme_are_two_series_also_under_seeds_of_their_own(frame):
    """A wide model of seed 1 is no second seed of a narrow one."""
    wide = [
        row | {"run": "rope-cafe0001-s1", "seed": 1, "params": 900_000} for row in run_rows("rope")
    ]
    rows = select(frame([*run_rows("rope"), *wide]), **ACCURACY)
    found = series(rows)
    assert len(found) == 2 and all(s.label.startswith("rope [") for s in found)
    assert [s.rows["seed"].nunique() for s in found] == [1, 1]
