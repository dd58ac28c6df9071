"""The verdict of rows on a statement: holds, fails, undecided, or not measured.

With the 95 % interval of the statistic: the statement holds where all of it lies beyond the
threshold on the side that was declared, fails where all of it lies on the other side, and is
undecided otherwise; the minimum detectable effect (MDE) then says which distance from the threshold
would have been told from 0 in 80 % of studies with this spread. Where a run that it reads diverged
in training, it is undecided.

How each statistic gets its interval: extrap.results.findings.interval. A rank correlation holds
only where its exact permutation p is at most .05, too.

One seed keeps the interval of its documents or trials and speaks about that run alone; a difference
of two readings takes them as independent, for the same lack of items, and is too wide. Two seeds
support no interval. Where the design could not have decided a statement, whatever its rows, the
reason says so (extrap.results.findings.design).

The premise of a statement is that more than half of the runs that it reads pass the gates of their
tasks (`learned`: all of them, or none need to); where they do not, it is not met, and nothing is
decided. This premise was added on 2026-11-24, after the rows.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.findings.design import limit
from extrap.results.findings.interval import interval
from extrap.results.findings.statement import RECIPE, Selection, Statement, read
from extrap.results.findings.statistics import NotMeasured, Read, measured, prepared, selected
from extrap.results.places import root
from extrap.results.rows import comparable, open_study
from extrap.results.series import judged
from extrap.results.stats.intervals import LEVEL

OF_A_RUN = {*RECIPE, "study", "scheme", "data", "seed", "train_length", "params", "size", "corpus"}
OF_A_RUN |= {"tuned"}
"""Columns of which all rows of a run have one value."""
VERDICTS = ("holds", "fails", "undecided", "premise not met", "not measured")


@dataclass(frozen=True)
class Finding:
    """A statement and what rows say: effect with its interval (nan where nothing supports them),
    seeds, runs and how many of them are below the gate, why nothing was decided, the two-sided p of
    the bound, and why the design could not have decided it.
    """

    statement: Statement
    verdict: str
    reason: str = ""
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan
    detectable: float = np.nan
    seeds: int = 0
    runs: int = 0
    below: int = 0
    p: float = np.nan
    design: str = ""


def findings(study: Path, rows: pd.DataFrame | None) -> list[Finding]:
    """A Finding for every statement of a study's folder; rows: None where there are none yet.

    Raises UserError for mixed corpora and for a damaged file of statements.
    """
    statements = read(study)
    if rows is None or rows.empty:
        return [Finding(one, "not measured", "no rows yet") for one in statements]
    own = table(rows)
    found = []
    other = cache(lambda name: table(open_study(root(study), name)))
    for one in statements:
        terms = chain.from_iterable(one.contrasts)
        selections = [one.rows, *(term.rows for term in terms)]
        named = sorted({name for asked in selections for name in _studies(asked)})
        if not named:
            found.append(judge(one, own))
            continue
        tables = [other(name) for name in named if name != study.name]
        # a selection without a study is then one of its own study
        mine = replace(one, rows={"study": study.name} | one.rows)
        joined = pd.concat([own, *tables])
        found.append(judge(mine, joined))
    return found


def _studies(asked: Selection) -> list[str]:
    """Returns the names of the studies that a selection reads, none if it is its own."""
    given = asked.get("study", [])
    names = given if isinstance(given, list) else [given]
    return [str(name) for name in names]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as `judge` reads them. Raises UserError for mixed corpora."""
    known = comparable(rows).assign(status=judged(rows))
    return prepared(known)


def judge(statement: Statement, rows: pd.DataFrame) -> Finding:
    """rows: as `prepared` leaves them."""
    try:
        found = measured(statement, rows)
    except NotMeasured as reason:
        return Finding(statement, "not measured", str(reason))
    known: dict[str, Any] = {"seeds": len(found.value), "runs": found.runs, "below": found.below}
    if ended := diverged(statement, rows):
        which = f"{', '.join(ended)} diverged in training, so a number is missing"
        return Finding(statement, "undecided", which, **known)
    lost = [str(seed) for seed, value in found.value.items() if np.isnan(value)]
    if lost:
        which = f"seed {', '.join(lost)} has no finite number"
        return Finding(statement, "undecided", which, **known)
    effect, low, high, detectable, p = interval(statement, found)
    verdict, reason = _verdict(statement, found, low, high, detectable)
    design = limit(statement, len(found.value)) if verdict == "undecided" else ""
    known |= {"p": p, "design": design}
    below = f"{found.below} of {found.runs} runs are below the gate"
    if statement.learned and found.below:
        verdict = "premise not met"
        reason = below
    elif statement.learned is None and 2 * found.below >= found.runs:
        reason = f"{below}; without this premise, added after the rows: {verdict}"
        verdict = "premise not met"
    return Finding(statement, verdict, reason, effect, low, high, detectable, **known)


def diverged(statement: Statement, rows: pd.DataFrame) -> list[str]:
    """Returns the names of the runs that diverged in training and that a statement would read
    otherwise, as no seed is dropped by its outcome.
    """
    ended = rows[rows["metric"] == "diverged_at"]
    names: set[str] = set()
    for term in chain.from_iterable(statement.contrasts):
        asked = statement.rows | term.rows
        if asked.get("task") != "train":  # whose rows a run has to its last step
            of_run = {name: value for name, value in asked.items() if name in OF_A_RUN}
            names |= {*selected(ended, of_run)["run"]}
    return sorted(names)


def _verdict(statement: Statement, found: Read, low: float, high: float, detectable: float):
    chance = f"permutation p {found.p:.2g}"
    if np.isnan(low):
        reason = "no interval"
        if statement.across == "median":
            reason = "a median of fewer than six seeds support no interval"
        elif len(found.value) == 2:
            reason = "two seeds support no interval"
        if found.p:
            reason += f", {chance}"
        return "undecided", reason
    beyond = low > statement.threshold
    short = high < statement.threshold
    if statement.direction == "below":
        beyond, short = short, beyond
    if beyond and found.p > 1 - LEVEL:
        return "undecided", f"so few items come to this order by chance, {chance}"
    if beyond or short:
        return ("holds" if beyond else "fails"), ""
    reason = "the bound lies inside the interval"
    if not np.isnan(detectable):
        reason += f", MDE {detectable:.3g}"
    if len(found.value) == 1 and statement.compares:
        reason += "; two readings taken as independent"
    return "undecided", reason
