"""A candidate under several recipes of the study grid: a rank that holds under one recipe alone is
no rank.
"""

from pathlib import Path

import pandas as pd

from extrap.cli.columns import aligned
from extrap.cli.judge import Candidate, train
from extrap.cli.sweep.grid import overrides
from extrap.figures.report.text import number
from extrap.results import baselines
from extrap.results.beside import joined
from extrap.results.findings.statistics import recipes
from extrap.results.places import place
from extrap.results.ranking import RETRIEVAL, Place, places
from extrap.results.rows import read_with_sheets
from extrap.results.series import Series, whole
from extrap.runs.layout import RESULTS
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

STUDY, BASELINE = "judge-recipes", "grid"
NAMED = {"layers": "model.layers", "heads": "model.heads", "lr": "train.lr"}
"""Options that a label of the study grid names."""


def check(count: int) -> list[list[str]]:
    """Returns the words of so many recipes. Raises UserError for more than there are."""
    grid = read_yaml(Path(conf_dir(), "experiment", "judge", "recipes.yaml"))["sweep"]["grid"]
    if not 1 <= count <= len(grid):
        raise UserError("--recipes", count, f"expected 1 to {len(grid)}")
    return overrides(grid)[:count]


def ranks(asked: Candidate, count: int) -> str:
    """Trains a candidate under so many recipes, and returns its rank under each in words."""
    for words in check(count):
        _train(asked, words)
    own = recipes(read_with_sheets(place(RESULTS, STUDY)))
    others = recipes(baselines.rows(BASELINE))
    by = ["train_length", *NAMED]
    lines = [["recipe", "rank", f"{RETRIEVAL.metric} at 4 L", "worst seed", "the best", "at 4 L"]]
    found = []
    for recipe, part in own[own["scheme"] == asked.label].groupby(by):
        same = others.merge(pd.DataFrame([recipe], columns=by))
        series = whole(joined(part, same))
        _, order = places(series, RETRIEVAL)
        rank = [series[one.series].scheme for one in order].index(asked.label)
        found.append(rank + 1)
        lines.append(_line(dict(zip(by, recipe, strict=True)), rank, order, series))
    spread = f"rank {min(found)} to {max(found)} under {len(found)} recipes of the study grid"
    return "\n".join([f"{asked.label}: {spread}; two seeds each, which support no interval",
                      *aligned(lines)])  # fmt: skip


def _train(asked: Candidate, words: list[str]) -> None:
    from extrap.cli import program
    from extrap.cli.composed import composed

    given = dict(word.split("=", 1) for word in words)
    label = asked.label + "".join(f"_{name}{given[option]}" for name, option in NAMED.items())
    seeds = [word for word in words if word.startswith("seed=")]
    typed = any(word.startswith("seed=") for word in asked.words)
    more = [word for word in words if word not in seeds] + [f"label={label}"]
    first = ["sweep.grid=null", "experiment=judge/recipes", *asked.words, *more]
    job = program.job(composed(first, asked.folder))
    grid = ["sweep.grid=null", "-m", *([] if typed else seeds)]
    train(asked, "judge/recipes", job, 2, *more, *grid)


def _line(recipe: dict, rank: int, order: list[Place], series: list[Series]) -> list[str]:
    own, best = order[rank], order[0]
    said = f"L={recipe['train_length']} {recipe['layers']:g} layers {recipe['heads']:g} heads"
    scores = [number(RETRIEVAL.mean(one.far)) for one in (own, best)]
    place_of = f"{rank + 1} of {len(order)}"
    name = series[best.series].scheme
    worst = number(own.worst_seed)
    return [f"{said} lr {recipe['lr']:g}", place_of, scores[0], worst, name, scores[1]]
