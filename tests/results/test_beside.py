"""A candidate beside the series of a study, on invented rows in which its place is known."""

import numpy as np
import pandas as pd
import pytest

from extrap.results.beside import beside, board, differences, either, joined
from extrap.utils.errors import UserError
from tests.support.plausible import study_rows

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def others(frame) -> pd.DataFrame:
    rows = frame(study_rows(("rope", "alibi", "nope"), SEEDS)).assign(study="reference")
    return rows.assign(sheet=rows["run"] + "__direct__" + rows["task"])


def mine(others: pd.DataFrame, **columns) -> pd.DataFrame:
    """ALiBi under another name."""
    rows = others[others["scheme"] == "alibi"]
    runs = {name: rows[name].str.replace("alibi", "mine") for name in ("run", "sheet")}
    own = {"scheme": "mine", "study": "judge", "config": "of mine"}
    return rows.assign(**own | runs | columns)


def test_a_candidate_has_a_place_and_a_difference_by_length_and_depth(others) -> None:
    own = mine(others)
    found_at = (own["task"] == "kv") & (own["metric"] == "accuracy")
    deep = found_at & (own["depth"] == 0.5)
    own.loc[deep, "value"] -= 0.25
    found = beside(joined(own, others), "judge", "mine", "of mine")
    assert [found.found[one.series].label for one in found.order][:2] == ["alibi", "mine"]
    assert found.place.best == 2 and found.multiple == 4 and found.place.depth == 0.5
    line = board(found).set_index("series").loc["mine"]
    assert line["yours"] and line["worst_depth"] == pytest.approx(
        own[deep & (own["multiple"] == 4) & (own["protocol"] == "records")]["value"].mean()
    )
    found_in = differences(found, lambda stem: (stem, None))
    gaps = found_in[(found_in["other"] == "alibi") & (found_in["task"] == "kv")]
    gaps = gaps[gaps["multiple"] == 4].set_index("depth")["difference"]
    assert gaps[0.5] == pytest.approx(-0.25) and gaps[0.0] == pytest.approx(0)
    depths = gaps[gaps.index.notna()]
    assert gaps[gaps.index.isna()].item() == pytest.approx(depths.mean())
    text = found_in[(found_in["other"] == "alibi") & (found_in["task"] == "nll")]
    assert len(text) and np.allclose(text["difference"], 0) and set(text["seeds"]) == {3}


@pytest.mark.turns
def test_pairs_rest_on_items_where_both_have_them(others) -> None:
    own = mine(others)
    found = beside(joined(own, others), "judge", "mine", "of mine")

    def scores(stem: str) -> tuple[str, pd.DataFrame | None]:
        """Trials whose means are the rows, spread by one pattern."""
        rows = pd.concat([own, others])
        cell = rows[(rows["sheet"] == stem) & (rows["metric"] == "accuracy")].dropna(subset="depth")
        spread = np.array([0.1, -0.1] * 10)
        made = [
            {"protocol": r.protocol, "length": r.length, "depth": r.depth, "metric": "accuracy",
             "item": str(i), "value": r.value + spread[i]}
            for r in cell.itertuples() for i in range(20)
        ]  # fmt: skip
        return stem, pd.DataFrame(made) if "kv" in stem and made else None

    of_alibi = differences(found, either(lambda stem: (stem, None), scores))
    kv = of_alibi[(of_alibi["other"] == "alibi") & (of_alibi["task"] == "kv")]
    assert set(kv["items"]) == {20} and kv["depth"].nunique() > 1
    assert of_alibi[of_alibi["task"] == "nll"]["items"].isna().all()


def test_a_model_of_yours_replaces_the_same_model_of_the_others(others) -> None:
    own = others[others["scheme"] == "alibi"].assign(study="judge")
    rows = joined(own, others)
    assert rows.groupby("scheme")["study"].agg(set)["alibi"] == {"judge"}
    assert len(rows) == len(others)


def test_a_curve_of_yours_replaces_no_reading_of_the_others(others) -> None:
    """A job under an extension writes the curve of its run as one of the plain model."""
    own = others[(others["scheme"] == "alibi") & (others["task"] == "train")]
    rows = joined(own.assign(study="judge"), others)
    alibi = rows[rows["scheme"] == "alibi"]
    assert alibi.groupby(alibi["task"] == "train")["study"].agg(set).to_dict() == {
        False: {"reference"},
        True: {"judge"},
    }
    assert len(own) and len(rows) == len(others)


@pytest.mark.parametrize(
    "columns, option", [({"corpus": "another"}, "corpus"), ({"train_length": 32}, "data.length")]
)
def test_other_text_and_another_length_are_no_neighbours(others, columns, option) -> None:
    with pytest.raises(UserError) as refused:
        joined(mine(others, **columns), others)
    assert refused.value.option == option


def test_a_candidate_whose_trainings_diverged_is_told_so(others) -> None:
    curve = mine(others)
    curve = curve[curve["task"] == "train"]
    ends = curve.groupby("run").head(1).assign(metric="diverged_at", axis="", at=np.nan)
    with pytest.raises(UserError, match=r"^train: all trainings of the candidate diverged"):
        beside(joined(pd.concat([curve, ends]), others), "judge", "mine", "of mine")
    with pytest.raises(UserError, match=r"^task: no kv accuracy of the candidate"):
        beside(joined(curve, others), "judge", "mine", "of mine")


def test_the_candidate_has_the_label_of_this_command(others) -> None:
    """The same model under another label has the same evaluations."""
    named = mine(others).assign(scheme="ours", run=lambda rows: rows["run"] + "-ours")
    rows = joined(pd.concat([mine(others), named]), others)
    for label in ("mine", "ours"):
        found = beside(rows, "judge", label, "of mine")
        assert found.found[found.candidate].scheme == label


def test_the_candidate_is_that_of_this_command_and_not_an_older_one(others) -> None:
    older = mine(others, factor=8.0, config="older", extension="ntk")
    own = mine(others, factor=4.0, extension="ntk")
    found = beside(joined(pd.concat([older, own]), others), "judge", "mine", "of mine")
    assert found.found[found.candidate].label == "mine + ntk x4" and len(found.yours) == 2
