"""A scheme's own recipe is chosen by the gate and the loss at L, and by nothing past L."""

import pandas as pd
import pytest

from extrap.results.findings.statistics import prepared
from extrap.results.leaderboard import tuned
from extrap.results.tuned import is_own, own_recipes
from tests.support.plausible import L
from tests.support.plausible_recipes import recipe_rows


def rows(table: list[tuple[int, str, float, float, float, float]], seed: int = 0) -> pd.DataFrame:
    """Rows of a seed, of (recipe, status, found at L, loss at L, found at 4 L, loss at 4 L)."""
    found = []
    for recipe, status, near, loss, far, far_loss in table:
        about = {"scheme": "rope", "size": 10, "train_length": 64, "recipe": recipe, "seed": seed}
        about["extension"] = "direct"
        for multiple, accuracy, nll in ((1.0, near, loss), (4.0, far, far_loss)):
            at = about | {"multiple": multiple, "status": status}
            kv = {"task": "kv", "metric": "accuracy", "protocol": "records", "value": accuracy}
            text = {"task": "nll", "metric": "nll", "protocol": "sliding", "value": nll}
            found += [at | kv, at | text]
    return pd.DataFrame(found)


@pytest.mark.parametrize(
    "table, own",
    [
        ([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "ok", 0.94, 1.6, 0.1, 4.0)], 2),
        ([(1, "ok", 0.95, 1.7, 0.1, 4.0), (2, "not trained", 0.8, 1.5, 0.9, 1.5)], 1),
        ([(1, "not trained", 0.5, 1.4, 0.1, 1.0), (2, "not trained", 0.7, 1.7, 0.1, 4.0)], 2),
    ],
    ids=["the lower loss at L", "a recipe that passes the gate", "none passes: the most found"],
)
def test_own_recipe(table, own):
    found = rows(table)
    assert [*own_recipes(found)] == [own]
    assert is_own(found).eq(1).equals(found["recipe"].eq(own))


def test_one_run_below_the_gate_turns_its_recipe_down():
    found = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "ok", 0.99, 1.5, 0.9, 1.7)])
    more = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "not trained", 0.5, 1.5, 0.9, 1.7)], seed=1)
    assert [*own_recipes(pd.concat([found, more], ignore_index=True))] == [1]


def test_a_seed_that_lacks_recipes_has_no_part_in_the_choice():
    found = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "ok", 0.99, 1.6, 0.9, 1.7)])
    running = rows([(1, "ok", 0.95, 1.4, 0.9, 1.7)], seed=1)
    both = pd.concat([found, running], ignore_index=True)
    assert [*own_recipes(both)] == [2]
    assert is_own(both).tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 4


def test_a_recipe_that_is_half_measured_is_nobodys_own():
    found = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "ok", 0.99, 1.5, 0.9, 1.7)])
    half = found[found["recipe"].eq(1) | found["task"].eq("nll")]
    assert [*own_recipes(half)] == [1]


def test_rows_without_recipes_have_none():
    found = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7)]).assign(recipe=float("nan"))
    assert is_own(found).isna().all()


def test_the_leaderboard_stands_by_what_own_recipes_find(frame):
    rows = frame(recipe_rows(recipes=(1, 2)))
    found = rows["metric"].eq("accuracy") & rows["length"].eq(4 * L)
    second = rows["scheme"].str.endswith("_recipe2")
    rope = rows["scheme"].str.startswith("rope")
    value = rows["value"].mask(found & ~second, 0.9).mask(found & second, 0.5)
    value = value.mask(found & second & rope, 0.7)
    value = value.mask(rows["metric"].eq("nll") & rows["length"].eq(L) & second, 1.0)
    head, first, last = tuned(prepared(rows.assign(value=value)))
    assert first[:5] == ("rope", "2", ".70", ".90", ".80, .70 to .90")
    assert last[:5] == ("alibi", "2", ".50", ".90", ".70, .50 to .90")
    assert head[4] == "mean and span over 2 recipes, learned or not"


def test_a_reading_under_an_extension_has_no_part_in_the_choice():
    found = rows([(1, "ok", 0.95, 1.7, 0.9, 1.7), (2, "ok", 0.94, 1.6, 0.1, 4.0)])
    yarn = rows([(1, "ok", 0.95, 0.1, 0.9, 1.7), (2, "ok", 0.94, 9.0, 0.1, 4.0)])
    both = pd.concat([found, yarn.assign(extension="yarn")], ignore_index=True)
    assert [*own_recipes(both)] == [2]
