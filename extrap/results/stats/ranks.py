"""Agreement of two orders."""

import numpy as np
import pandas as pd


def spearman(a: pd.Series, b: pd.Series) -> float:
    """Spearman's rank correlation over the index that both have, tied values with their mean rank.

    nan below three places and where one of them has no order, all values alike.
    """
    left, right = a.align(b, join="inner")
    ranks = [side.rank() for side in (left, right)]
    if len(left) < 3 or any(np.isclose(rank.std(ddof=0), 0) for rank in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])
