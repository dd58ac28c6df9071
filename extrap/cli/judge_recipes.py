"""A candidate under several recipes of the study grid: a rank that holds under one recipe alone is
no rank.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from extrap.cli import program
from extrap.cli.composed import composed
from extrap.cli.judge_candidate import LONGEST, Candidate, train, typed
from extrap.cli.sweep.grid import overrides
from extrap.figures.report.text import number
from extrap.results import baselines
from extrap.results.beside import joined
from extrap.results.findings.statistics import recipes as of_recipes
from extrap.results.places import place
from extrap.results.ranking import RETRIEVAL, Place, places
from extrap.results.rows import read_with_sheets
from extrap.results.series import Series, whole
from extrap.runs import validate
from extrap.runs.layout import RESULTS
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

if TYPE_CHECKING:
    from extrap.runs.job import Job

STUDY, BASELINE = "judge-recipes", "grid"
NAMED = {"model.layers": "layers", "model.heads": "heads", "train.lr": "lr"}
"""Options that a label of the study grid names, and their names there."""


class Recipe(NamedTuple):
    """One recipe of the study grid for a candidate.

    Args:
        given: the values of its options by name
        label: of the rows of the candidate
        words: of the sweep that trains it, without those of the candidate
        job: the first of it
        seeds: of its runs
    """

    given: dict[str, str]
    label: str
    words: list[str]
    job: "Job"
    seeds: list[str]


def first(count: int) -> list[list[str]]:
    """Returns the words of the first recipes. Raises UserError for more than there are."""
    grid = read_yaml(Path(conf_dir(), "experiment", "judge", "recipes.yaml"))["sweep"]["grid"]
    if not 0 <= count <= len(grid):
        raise UserError("--recipes", count, f"expected 1 to {len(grid)}")
    return overrides(grid)[:count]


def check(asked: Candidate) -> None:
    """Raises UserError for more recipes than there are, for an extension under recipes, and for an
    option that recipes set.
    """
    recipes = first(asked.recipes)
    if recipes and asked.group == "extension":
        problem = "under other recipes there are schemes alone to stand beside"
        raise UserError("--recipes", asked.recipes, problem, "leave it out")
    set_by = {word.partition("=")[0] for words in recipes for word in words}
    for option in sorted(set_by - {"seed"}):
        value = typed(asked.words, option)
        if value is not None:
            problem = "each recipe of --recipes has a value of its own"
            raise UserError(option, value, problem, "leave one of them out")


def prepared(asked: Candidate) -> list[Recipe]:
    """Returns the recipes that are asked for. Raises UserError for a mistake in one of them."""
    found = [_prepared(asked, words) for words in first(asked.recipes)]
    for one in found:
        validate.check(one.job)
    return found


def _prepared(asked: Candidate, recipe: list[str]) -> Recipe:
    """Returns a recipe with its seeds, unless seeds are typed."""
    given = dict(word.split("=", 1) for word in recipe)
    seeds = given.pop("seed").split(",")
    recipe_of = "".join(f"_{name}{given[option]}" for option, name in NAMED.items())
    label = asked.label[: LONGEST - len(recipe_of)] + recipe_of
    more = [*(f"{option}={value}" for option, value in given.items()), f"label={label}"]
    own = ["sweep.grid=null", "experiment=judge/recipes", *asked.of_one_seed, *more]
    job = program.job(composed(own, asked.folder))
    sweep = ["sweep.grid=null", "-m"]
    if asked.seeds is None:
        sweep.append(f"seed={','.join(seeds)}")
    return Recipe(given, label, [*more, *sweep], job, asked.seeds or seeds)


def train_under(asked: Candidate, recipes: Sequence[Recipe]) -> None:
    """Trains a candidate under recipes."""
    for recipe in recipes:
        train(asked, "judge/recipes", recipe.job, recipe.seeds, *recipe.words)


def ranks(asked: Candidate, recipes: Sequence[Recipe]) -> tuple[str, list[list[str]]]:
    """Returns the ranks of a candidate under recipes: a sentence, and lines of cells, the header
    first.
    """
    every = read_with_sheets(place(RESULTS, STUDY))
    others = of_recipes(baselines.rows(BASELINE))
    lines = [["recipe", "rank", f"{RETRIEVAL.metric} at 4 L", "worst seed", "the best", "at 4 L"]]
    found = []
    for recipe in recipes:
        here = {name: float(recipe.given[option]) for option, name in NAMED.items()}
        here["train_length"] = float(recipe.given["data.length"])
        same = others.merge(pd.DataFrame([here]))
        model = recipe.job.run.name.removesuffix(f"-s{recipe.job.run.seed}")
        own = every[every["run"].str.startswith(f"{model}-s")].assign(scheme=asked.label)
        series = whole(joined(own, same))
        _, order = places(series, RETRIEVAL)
        yours = [i for i, s in enumerate(series) if set(s.rows["study"]) == {STUDY}]
        own_place = next((one for one in order if one.series in yours), None)
        ranked = [one.series for one in order if len(one.far)]
        rank = "no reading" if own_place is None else "-"
        if own_place is not None and len(own_place.far):
            found.append(ranked.index(own_place.series) + 1)
            rank = f"{found[-1]} of {len(ranked)}"
        lines.append(_line(here, rank, own_place, order[0], series))
    return _said(found, len(recipes)), lines


def _said(found: Sequence[int], recipes: int) -> str:
    """Returns the ranks in a sentence, and how many of the recipes have one."""
    of = "one recipe" if recipes == 1 else f"{recipes} recipes"
    where = "of the study grid, beside the schemes that were trained there"
    if not found:
        return f"No rank under {of} {where}: the candidate was not read at 4 L."
    best, worst = min(found), max(found)
    spread = f"{best}" if best == worst else f"{best} to {worst}"
    under = of if len(found) == recipes else f"{len(found)} of {of}"
    return f"Rank {spread} under {under} {where}; fewer than three seeds each support no interval."


def _line(
    recipe: dict, rank: str, own: Place | None, best: Place, series: list[Series]
) -> list[str]:
    said = f"L={recipe['train_length']:g} {recipe['layers']:g} layers {recipe['heads']:g} heads"
    score = number(RETRIEVAL.mean(own.far)) if own else "-"
    worst = number(own.worst_seed) if own else "-"
    name = series[best.series].scheme
    far = number(RETRIEVAL.mean(best.far))
    return [f"{said} lr {recipe['lr']:g}", rank, score, worst, name, far]
