"""Who learns: one line for each scheme, means over its seeds."""

import pytest

from extrap.results.learning import learning
from extrap.results.summary import summary
from tests.support.plausible import L, study_rows


def test_a_line_holds_means_over_seeds(frame):
    rows = frame(study_rows(("rope", "nope", "learned"), seeds=(0, 1)))
    table = learning(rows)
    assert table["seeds"].to_dict() == {"rope": 2, "nope": 2, "learned": 2}
    assert table.loc["rope", "passed"] == 2 and table.loc["nope", "passed"] == 0
    at = rows[(rows["protocol"] == "records") & (rows["metric"] == "accuracy")]
    at = at[(at["scheme"] == "rope") & at["depth"].notna()]
    for multiple in (1, 2, 4):
        here = at[at["length"] == multiple * L]
        assert table.loc["rope", multiple] == pytest.approx(here["value"].mean())
    worst = at[at["length"] == L].groupby("depth")["value"].mean().min()
    assert table.loc["rope", "least"] == pytest.approx(worst)
    steps = rows[(rows["metric"] == "steps_to_90") & (rows["scheme"] == "rope")]["value"]
    assert table.loc["rope", "steps"] == pytest.approx(steps.mean())


def test_what_never_learns_has_no_step_and_what_ends_has_no_accuracy_past_its_end(frame):
    table = learning(frame(study_rows(("nope", "learned"))))
    assert table["steps"].isna()["nope"] and table[2].isna()["learned"]


def test_a_mean_of_steps_says_how_many_seeds_it_is_of(frame):
    rows = frame(study_rows(("rope",), seeds=(0, 1)))
    late = (rows["metric"] == "steps_to_90") & (rows["seed"] == 1)
    table = learning(rows[~late])
    assert (table.loc["rope", "arrived"], table.loc["rope", "seeds"]) == (1, 2)
    assert summary(rows)["steps_to_90"].notna().all()
    assert summary(rows[~late])["steps_to_90"].isna().all()
