"""What theory says about influence over positions, and whether measured curves agree.

A causal decoder before any training averages what it sees and passes its residual on. With weight a
of attention against the residual, N = (1 - a) I + a M, M the Cesaro matrix of rows 1 / (i + 1), and
the influence of position j on the last output of H layers is the last row of N^H:

    (N^H)_(n-1, j) = sum_k C(H, k) a^k (1 - a)^(H - k) (M^k)_(n-1, j)
    n (M^k)_(n-1, x n) -> (-ln x)^(k - 1) / (k - 1)!       for n -> infinity, 0 < x <= 1, k >= 1

so that it diverges like a power of a logarithm at the start, has (1 - a)^H alone at the last
position, and falls in between. Source: arXiv 2603.10123. That such a curve has one minimum, which
lies inside: arXiv 2605.09213.
"""

from math import comb, factorial

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from extrap.results.series import select, told_apart, where_known


def influence(n: int, layers: int, a: float) -> np.ndarray:
    """(n,) the last row of N^H, which sums to 1."""
    row = np.zeros(n)
    row[-1] = 1
    seen = np.arange(1, n + 1)
    for _ in range(layers):
        # row @ M: what a position i gives, it gives alike to all it sees
        backwards = (row / seen)[::-1]
        given = np.cumsum(backwards)[::-1]
        row = (1 - a) * row + a * given
    return row


def density(x: np.ndarray, layers: int, a: float) -> np.ndarray:
    """The limit of n times the influence at x n, 0 < x < 1; the last position aside."""
    falling = -np.log(x)
    total = 0
    for k in range(1, layers + 1):
        paths = comb(layers, k) * a**k * (1 - a) ** (layers - k)
        total += paths * falling ** (k - 1) / factorial(k - 1)
    return total


def weight(share: float, n: int, layers: int) -> float:
    """a for which the last position has this share of the influence: how much attention weighs
    against the residual of a model, which its initialisation decides.
    """
    low = influence(n, layers, 1.0)[-1]
    high = 1.0
    share = min(max(share, low), high)

    def above(a: float) -> float:
        return influence(n, layers, a)[-1] - share

    return brentq(above, 0.0, 1.0)


def predicted(curve: pd.Series, n: int, layers: int) -> pd.Series:
    """What theory says at the positions of a measured curve (shares by position, the last one among
    them), a taken from its last one.
    """
    last = float(curve.loc[n - 1])
    a = weight(last, n, layers)
    places = curve.index.to_numpy().astype(int)
    found = influence(n, layers, a)[places]
    return pd.Series(found, curve.index)


def record(at, length: int) -> np.ndarray:
    """The number of the record that a position is of: 0 the first token, the last the query."""
    at = np.asarray(at)
    is_query = at == length - 1
    return np.where(is_query, length, (at + 1) // 2)


def by_record(curve: pd.Series, length: int) -> pd.Series:
    """A curve by position. A record stands in the middle between its key and its value, and its
    influence is the mean of theirs.
    """
    of = record(curve.index, length)
    places = curve.index.to_series()
    values = curve.groupby(of).mean()
    values.index = places.groupby(of).mean()
    return values


def agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation of measured influence with theory, of models as they were drawn.

    One line per scheme (and extension), one column per number of layers; the mean over seeds, at
    the training length, of whole records. Nothing where no such rows are.
    """
    from scipy.stats import spearmanr  # it takes half a second, of every `extrap plot`

    rows = select(rows, task="diagnostics", metric="influence")
    rows = where_known(rows)
    depth = rows["protocol"].str.extract(r"^untrained_(\d+)_layers$")[0]
    layers_of = depth.dropna().astype(int)
    rows = rows[depth.notna()].assign(layers=layers_of)
    apart = told_apart(rows, ["scheme", "data", "extension"])
    rows["scheme"] = rows["scheme"] + apart
    keys = ["scheme", "extension", "run", "layers"]
    found = []
    for key, part in rows.groupby(keys):
        n = int(part["length"].iloc[0])
        layers = int(key[-1])
        curve = part.groupby("at")["value"].mean()
        measured = by_record(curve, n)
        theory = by_record(predicted(curve, n, layers), n)
        rho = spearmanr(measured, theory).statistic
        found.append([*key, rho])
    table = pd.DataFrame(found, columns=[*keys, "rho"])
    return table.pivot_table(index=["scheme", "extension"], columns="layers", values="rho")
