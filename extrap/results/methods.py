"""Methods of reading further, as the figures of a study of extensions compare them: told apart from
training, tuning and factor.
"""

import pandas as pd

from extrap.results.rows import comparable
from extrap.results.series import behind, called, judged, one_factor, told_apart

LOG_N = "-log-n"
TUNED = r"(?P<parent>.+?)-(?P<how>full|lora)-(?P<rest>.+-)?x(?P<tuned>[0-9.]+)"
PUBLISHED = "published"
"""Data of a checkpoint as it comes."""
PROBES = ("pi-pair",)
"""Extensions that measure a property of a model and do not extend it."""


def methods(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of methods with these further columns. Raises UserError for mixed corpora.

    parent     the scheme that was trained, with the hash of its settings where methods were read
               on several; tuned: the train factor of fine-tuning, nan without;
               tuned_with: the extension then; how: full or lora
    method     the extension by its own name, without options and without log-n at test; log_n: True
               with log-n
    options    `width=16`, or nothing
    set_for    the factor; 1 without a factor, or if it follows the length of the text

    If a study has extensions, the rows of other schemes and data are left out. `series.judged` says
    whether a run was trained.
    """
    rows = comparable(rows).copy(deep=False)
    scheme = behind(rows["scheme"])
    place, names = pd.factorize(scheme)
    label = pd.Series(names).str.extract(f"^{TUNED}$").iloc[place].set_axis(rows.index)
    parent = label["parent"].fillna(scheme)
    rows["parent"] = parent.map({name: called(name) for name in parent.unique()})
    rows["how"] = label["how"].fillna("")
    rows["tuned"] = label["tuned"].astype(float)
    rows["tuned_with"] = label["rest"].str.rstrip("-").fillna("")
    # a published model that was tuned has the name of our text: its data are those of the parent
    published = rows.loc[rows["data"] == PUBLISHED, "parent"].unique()
    of_published = rows["parent"].isin(published)
    origin = rows["data"].mask(of_published, PUBLISHED)
    extended = rows["extension"] != "direct"
    if extended.any():
        pairs = [*zip(rows["parent"], origin, strict=True)]
        own = pd.Series(pairs, index=rows.index)
        several = set(own[extended])
        rows = rows[own.isin(several)].copy()
    named = behind(rows["extension"]).str.partition(",")
    name = named[0]
    alone = LOG_N[1:]
    without = name.str.removesuffix(LOG_N)
    rows["options"] = named[2]
    rows["log_n"] = name.str.endswith(LOG_N) | (name == alone)
    rows["method"] = without.replace(alone, "direct")
    rows["set_for"] = one_factor(rows)
    rows["status"] = judged(rows)
    alike = ["parent", "tuned", "how", "tuned_with", "extension", "set_for"]
    apart = told_apart(rows, alike)
    rows["parent"] = rows["parent"] + apart
    return rows


def compared(rows: pd.DataFrame, factor: float | None = None) -> pd.DataFrame:
    """Returns rows of `methods` that share a table: without tuning, options and probes, set for the
    same factor, by default the greatest that some method was set for.
    """
    plain = rows["tuned"].isna() & (rows["options"] == "")
    probes = rows["method"].isin(PROBES)
    rows = rows[plain & ~probes]
    if factor is None:
        factor = target(rows)
    return rows[rows["set_for"].isin((1.0, factor))]


def target(rows: pd.DataFrame) -> float:
    """Returns the greatest factor that some method was set for."""
    extend = ~rows["method"].isin(PROBES)
    factors = rows.loc[extend, "set_for"]
    return float(factors.max())
