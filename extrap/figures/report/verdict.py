"""A candidate compared with other series, as a section of a page: its place, where it gains and
loses by length and by depth, its contracts and its cost.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from extrap.figures.report.leaderboard import words
from extrap.figures.report.text import Html, number, table
from extrap.results.beside import Beside
from extrap.results.ranking import RETRIEVAL

NOTE = "The candidate less each other series; * marks a 95 % interval without 0."
NOT_CHECKED = "not checked: "
"""How what is said of a contract begins that could not be checked."""
ON_PURPOSE = "broken on purpose: "
"""How what is said of a contract begins that a scheme of extrap breaks for a known reason."""
RECIPES = "Rank under recipes of the study grid"


def sentence(of: Beside, differences: pd.DataFrame) -> str:
    """Returns the place of the candidate in words, and whom it beats."""
    place = of.place
    said = _ranked(of) if place.best else _not_ranked(of)
    if place.below:
        seeds = f"{place.below} seed{'s' * (place.below != 1)}"
        said += f"; {seeds} below the gate, so that its curve says nothing about length"
    if place.diverged:
        said += f"; {place.diverged} more diverged in training"
    if not place.best:
        return f"{said}."
    here = differences[(differences["task"] == "kv") & differences["depth"].isna()]
    here = here[here["multiple"] == of.multiple]
    above = (here["low"] > 0).sum()
    below = (here["high"] < 0).sum()
    said += f". It lies above {above} and below {below} of {len(here)}"
    return f"{said}; the others are not told apart."


def _ranked(of: Beside) -> str:
    """Returns the rank of the candidate, its score, and its worst seed and depth."""
    place = of.place
    count = sum(len(one.far) > 0 for one in of.order)
    ranks = f"{place.best}" if place.best == place.worst else f"{place.best} to {place.worst}"
    said = f"{of.found[of.candidate].label} has rank {ranks} of {count} at {of.multiple:g} L by "
    said += f"retrieval accuracy (records): {words(RETRIEVAL, place.far)}"
    if len(place.far) < 3:
        said += f"; {len(place.far)} of 3 seeds support no interval"
    said += f". Worst seed {number(place.worst_seed)}"
    if not math.isnan(place.depth):
        said += f", worst depth {number(place.worst_depth)} (at {place.depth:g})"
    return said


def _not_ranked(of: Beside) -> str:
    """Returns how far the candidate was read, and its score at the training length."""
    count = sum(len(one.far) > 0 for one in of.order)
    said = f"{of.found[of.candidate].label} was not read as far as {of.multiple:g} L, where "
    said += f"{count} others are ranked by retrieval accuracy (records)"
    return f"{said}: at L it has {words(RETRIEVAL, of.place.near)}"


def pairing(differences: pd.DataFrame) -> str:
    """Returns what a difference is, and by what its series were paired."""
    by_item = differences["items"].notna()
    if by_item.all():
        return f"{NOTE} Pairs rest on the same documents, trials and seeds."
    if not by_item.any():
        return f"{NOTE} Pairs rest on seeds alone."
    pairs = differences[~by_item].groupby("other", sort=False)["task"].unique()
    listed = ", ".join(f"{other} ({', '.join(tasks)})" for other, tasks in pairs.items())
    return f"{NOTE} Pairs rest on the same documents, trials and seeds; on seeds alone: {listed}."


def cell(difference: float, low: float, high: float) -> str:
    """Returns `+0.12*`, with the star if the interval leaves out 0."""
    known = low is not None and not math.isnan(low)
    star = "*" if known and (low > 0 or high < 0) else ""
    return f"{difference:+.2f}{star}"


def crossed(differences: pd.DataFrame, by: str) -> pd.DataFrame:
    """Returns differences as text, a line for each other series, a column for each `by`."""
    said = [cell(*one) for one in differences[["difference", "low", "high"]].to_numpy()]
    wide = differences.assign(said=said).pivot(index="other", columns=by, values="said")
    return wide.reindex(differences["other"].drop_duplicates()).fillna("-")


def parts(of: Beside, differences: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Returns the tables of differences by their titles."""
    whole = differences["depth"].isna()
    found, text = differences["task"] == "kv", differences["task"] == "nll"
    deep = differences[~whole & (differences["multiple"] == of.multiple)]
    tables = {
        "Retrieval accuracy, by length (in training lengths)": (
            differences[whole & found],
            "multiple",
        ),
        "Loss in nats per token, by length: less is better": (
            differences[whole & text],
            "multiple",
        ),
        f"Retrieval accuracy at {of.multiple:g} L, by depth": (deep, "depth"),
    }
    return {title: crossed(*one) for title, one in tables.items() if len(one[0])}


def section(
    of: Beside,
    differences: pd.DataFrame,
    contracts: Mapping[str, str],
    cost: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    recipes: Sequence[Sequence[str]] = (),
) -> str:
    """Returns the section.

    Args:
        contracts: how the candidate breaks each, empty if it holds, NOT_CHECKED or ON_PURPOSE and
            why
        cost: lines of cells, the header first
        notes: sentences about the comparison
        recipes: ranks under other recipes, lines of cells, the header first
    """
    name = escape(of.found[of.candidate].label)
    body = [f'<section id="verdict"><h2>{name}</h2>', f"<p>{escape(sentence(of, differences))}</p>"]
    body += [f"<p>{escape(note)}</p>" for note in (*notes, pairing(differences))]
    if recipes:
        body.append(table(recipes[0], recipes[1:], RECIPES))
    for title, frame in parts(of, differences).items():
        head = ["series", *(f"{column:g}" for column in frame.columns)]
        lines = []
        for other, line in zip(frame.index, frame.to_numpy(), strict=True):
            lines.append([str(other), *((cell, _sorted_by(cell)) for cell in line)])
        body.append(table(head, lines, title, kind="sorts"))
    if contracts:
        lines = [(says, Html(_held(why))) for says, why in contracts.items()]
        body.append(table(("contract", "holds"), lines, "Contracts"))
    if cost:
        body.append(table(cost[0], cost[1:], "Cost beside NoPE, and the kernel of attention"))
    return "".join([*body, "</section>"])


def _sorted_by(cell: str) -> float:
    """Returns the number of a difference such as +0.12*, nan for a missing one."""
    text = cell.rstrip("*").replace("−", "-")
    return math.nan if text in ("", "-") else float(text)


def _held(why: str) -> str:
    if why.startswith((NOT_CHECKED, ON_PURPOSE)):
        return escape(why)
    return '<b class="v-holds">yes</b>' if not why else f'<b class="v-fails">no</b>: {escape(why)}'
