"""Methods of reading further in the figures of this study: their order and names, the scheme that
most of them were read on, the frequencies in force in words.
"""

from collections.abc import Iterable

import pandas as pd

from extrap.results.in_force import in_force, share_words
from extrap.results.methods import compared, methods
from extrap.results.series import called, select, spread


def order(names) -> list[str]:
    """Returns methods in the order of tables: the plain reader, then by name."""
    return sorted(set(names), key=lambda name: (name != "direct", name))


def title(method: str) -> str:
    """Returns a method on paper: its label, else its own name; `plain` for `direct`."""
    return "plain" if method == "direct" else called(method)


def value(rows: pd.DataFrame) -> tuple[float, float, float] | None:
    """Returns (value, low, high) over seeds of rows with one number per seed, None without rows."""
    if rows.empty:
        return None
    at_one = spread(rows.assign(one=0), "one")
    found = at_one.iloc[0]
    return float(found["value"]), float(found["low"]), float(found["high"])


def of_main_parent(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows of `methods` of the scheme that most methods were read on, tuned or not, and of
    the way of tuning, full or LoRA, with most of them; of several the first by name.
    """
    parent = _most(rows, "parent")
    rows = rows[rows["parent"] == parent]
    tuned = rows["tuned"].notna()
    how = _most(rows[tuned], "how")
    return rows[~tuned | (rows["how"] == how)]


def _most(rows: pd.DataFrame, column: str) -> str:
    """Returns the value of a column with most methods."""
    several = [column, "tuned", "tuned_with", "extension", "set_for"]
    counts = rows[several].drop_duplicates()[column].value_counts()
    most = counts.index[counts == counts.max()]
    return min(most, default="")


def in_force_note(rows: pd.DataFrame, drawn: Iterable[str]) -> str:
    """Returns the line under a figure: for each of its methods, the slowest pair in force over its
    trained frequency. Empty without rows of frequencies.
    """
    active = select(rows, task="used", metric="theta")
    if active.empty:
        return ""
    active = compared(methods(active))
    extended = {*drawn} - {"direct"}
    active = active[active["method"].isin(extended)]
    by_share: dict[str, list[str]] = {}
    for method in order(active["method"]):
        found = in_force(active[active["method"] == method])
        if len(found):
            slowest = float(found["slowest"].min())
            by_share.setdefault(share_words(slowest), []).append(method)
    phrases = []
    for share, names in sorted(by_share.items()):
        words = share if share == "1" else f"{share} as trained"
        phrases.append(f"{words} in {', '.join(map(title, names))}")
    return f" · slowest pair in force: {'; '.join(phrases)}" if phrases else ""
