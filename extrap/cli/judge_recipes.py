"""A candidate under several recipes of the study grid: a rank that holds under one recipe alone is
no rank.
"""

from pathlib import Path

import pandas as pd

from extrap.cli.judge import Candidate, train
from extrap.cli.sweep.grid import overrides
from extrap.figures.report.text import number
from extrap.results import baselines
from extrap.results.beside import joined
from extrap.results.findings.statistics import recipes as of_recipes
from extrap.results.places import place
from extrap.results.ranking import RETRIEVAL, Place, places
from extrap.results.rows import read_with_sheets
from extrap.results.series import Series, whole
from extrap.runs.layout import RESULTS
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

STUDY, BASELINE = "judge-recipes", "grid"
NAMED = {"model.layers": "layers", "model.heads": "heads", "train.lr": "lr"}
"""Options that a label of the study grid names, and their names there."""


def first(count: int) -> list[list[str]]:
    """Returns the words of the first recipes. Raises UserError for more than there are."""
    grid = read_yaml(Path(conf_dir(), "experiment", "judge", "recipes.yaml"))["sweep"]["grid"]
    if not 0 <= count <= len(grid):
        raise UserError("--recipes", count, f"expected 1 to {len(grid)}")
    return overrides(grid)[:count]


def train_all(asked: Candidate) -> None:
    """Trains a candidate under the recipes that are asked for."""
    for words in first(asked.recipes):
        _train(asked, words)


def ranks(asked: Candidate) -> tuple[str, list[list[str]]]:
    """Returns the ranks of a candidate under recipes: a sentence, and lines of cells, the header
    first.
    """
    own = of_recipes(read_with_sheets(place(RESULTS, STUDY)))
    others = of_recipes(baselines.rows(BASELINE))
    by = ["train_length", *NAMED.values()]
    lines = [["recipe", "rank", f"{RETRIEVAL.metric} at 4 L", "worst seed", "the best", "at 4 L"]]
    found = []
    for recipe, part in own[own["scheme"] == asked.label].groupby(by):
        same = others.merge(pd.DataFrame([recipe], columns=by))
        series = whole(joined(part, same))
        _, order = places(series, RETRIEVAL)
        yours = [i for i, s in enumerate(series) if set(s.rows["study"]) == {STUDY}]
        rank = next(place for place, one in enumerate(order) if one.series in yours)
        found.append(rank + 1)
        lines.append(_line(dict(zip(by, recipe, strict=True)), rank, order, series))
    best, worst = min(found), max(found)
    spread = f"{best}" if best == worst else f"{best} to {worst}"
    under = "one recipe" if len(found) == 1 else f"{len(found)} recipes"
    said = (
        f"Rank {spread} under {under} of the study grid, beside the schemes that were trained there"
    )
    return f"{said}; two seeds each support no interval.", lines


def _train(asked: Candidate, recipe: list[str]) -> None:
    """Trains a candidate under one recipe, with the seeds of the recipe unless seeds are typed."""
    from extrap.cli import program
    from extrap.cli.composed import composed

    options = [word for word in recipe if not word.startswith("seed=")]
    seeds = [word for word in recipe if word.startswith("seed=")]
    given = dict(word.split("=", 1) for word in recipe)
    label = asked.label
    for option, name in NAMED.items():
        label += f"_{name}{given[option]}"
    more = [*options, f"label={label}"]
    words = ["sweep.grid=null", "experiment=judge/recipes", *asked.words, *more]
    job = program.job(composed(words, asked.folder))
    grid = ["sweep.grid=null", "-m", *([] if asked.seeds else seeds)]
    train(asked, "judge/recipes", job, 2, *more, *grid)


def _line(recipe: dict, rank: int, order: list[Place], series: list[Series]) -> list[str]:
    own, best = order[rank], order[0]
    said = f"L={recipe['train_length']} {recipe['layers']:g} layers {recipe['heads']:g} heads"
    scores = [number(RETRIEVAL.mean(one.far)) for one in (own, best)]
    place_of = f"{rank + 1} of {len(order)}"
    name = series[best.series].scheme
    worst = number(own.worst_seed)
    return [f"{said} lr {recipe['lr']:g}", place_of, scores[0], worst, name, scores[1]]
