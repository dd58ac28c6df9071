"""The verdict of rows on a statement: holds, fails, undecided, or not measured.

With the 95 % interval of the statistic: the statement holds where all of it lies beyond the
threshold on the side that was declared, fails where all of it lies on the other side, and is
undecided otherwise; the minimum detectable effect (MDE) then says which distance from the threshold
would have been told from 0 in 80 % of studies with this spread.

From three seeds on the interval is Student's over seeds (of a median: the range of the seeds); it
speaks about the documents and trials that were read. One seed keeps the interval of its documents
or trials and speaks about that run alone; two seeds support none. Seeds below the gate count as all
others, unless the statement has their learning as its premise.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.results.findings.statement import Statement, read
from extrap.results.findings.statistics import NotMeasured, Read, measured, prepared
from extrap.results.rows import comparable
from extrap.results.series import judged
from extrap.results.stats.crossed import over_seeds
from extrap.results.stats.intervals import Z

VERDICTS = ("holds", "fails", "undecided", "not measured")
ENOUGH = 3
"""Seeds from which an interval speaks about a scheme."""
Z_POWER = 0.8416212335729143  # 80 % point of the normal distribution


@dataclass(frozen=True)
class Finding:
    """A statement and what rows say: effect with its interval (nan where nothing supports them),
    seeds, runs and how many of them are below the gate, and why nothing was decided.
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


def findings(study: Path, rows: pd.DataFrame | None) -> list[Finding]:
    """A Finding for every statement of a study's folder; rows: None where there are none yet.

    Raises UserError for mixed corpora and for a damaged file of statements.
    """
    statements = read(study)
    if rows is None or rows.empty:
        return [Finding(one, "not measured", "no rows yet") for one in statements]
    read_from = table(rows)
    return [judge(one, read_from) for one in statements]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as `judge` reads them. Raises UserError for mixed corpora."""
    return prepared(comparable(rows).assign(status=judged(rows)))


def judge(statement: Statement, rows: pd.DataFrame) -> Finding:
    """rows: as `prepared` leaves them."""
    try:
        found = measured(statement, rows)
    except NotMeasured as reason:
        return Finding(statement, "not measured", str(reason))
    known = {"seeds": len(found.value), "runs": found.runs, "below": found.below}
    if lost := [str(seed) for seed, value in found.value.items() if np.isnan(value)]:
        which = f"seed {', '.join(lost)} has no finite number"
        return Finding(statement, "undecided", which, **known)
    effect, low, high, detectable = _interval(statement, found)
    numbers = {"effect": effect, "low": low, "high": high, "detectable": detectable}
    verdict, reason = _verdict(statement, found, low, high, detectable)
    return Finding(statement, verdict, reason, **numbers, **known)


def _interval(statement: Statement, found: Read) -> tuple[float, float, float, float]:
    values = found.value.to_numpy(float)
    if len(values) == 1:
        value, down, up = values[0], float(found.down.iloc[0]), float(found.up.iloc[0])
        return value, value - down, value + up, (down + up) / 2 * (1 + Z_POWER / Z)
    middle = np.median if statement.across == "median" else np.mean
    if len(values) < ENOUGH:
        return float(middle(values)), np.nan, np.nan, np.nan
    mean = over_seeds(values)
    if statement.across == "median":
        return float(np.median(values)), values.min(), values.max(), np.nan
    return mean.value, *mean.interval, mean.detectable


def _verdict(statement: Statement, found: Read, low: float, high: float, detectable: float):
    if statement.learned and found.below:
        return (
            "undecided",
            f"its premise does not hold: {found.below} of {found.runs} runs are below the gate",
        )
    if np.isnan(low):
        many = "two seeds support no interval" if len(found.value) == 2 else "no interval"
        return "undecided", many
    beyond, short = low > statement.threshold, high < statement.threshold
    if statement.direction == "below":
        beyond, short = short, beyond
    if beyond or short:
        return ("holds" if beyond else "fails"), ""
    power = "" if np.isnan(detectable) else f", MDE {detectable:.3g}"
    return "undecided", f"the bound lies inside the interval{power}"
