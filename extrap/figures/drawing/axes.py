"""Axes that several figures share: lengths in tokens (log2) with r = length / L above, perplexities
(log), the training length; and lines that are a reference and no data.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

QUIET, INK = "#666666", "#222222"
DOTS = (0, (1, 1.6))
SHARE = (-0.03, 1.05)
"""Limits of an axis of accuracies."""
LARGER = 1.2


def ticks(axis, places, form: str | Callable = "{x:g}") -> None:
    """Sets the ticks of an axis, plain numbers without smaller ticks between them."""
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(form)
    axis.set_minor_locator(NullLocator())


def log2_axis(axes, places) -> None:
    """Makes a log2 x axis with ticks at these numbers."""
    axes.set_xscale("log", base=2)
    ticks(axes.xaxis, places)


def length_axis(axes, lengths, train_lengths) -> None:
    """Makes a log2 x axis in tokens with a tick at every whole power of two of the training length
    and, if there is one training length, r on top.
    """
    lengths = np.unique(np.asarray(lengths, float))
    base = float(min(train_lengths))
    whole = lengths[np.log2(lengths / base) % 1 == 0]
    powers = whole if len(whole) else lengths
    log2_axis(axes, powers)
    axes.set_xlim(lengths.min() / 1.15, lengths.max() * 1.06)
    axes.xaxis.set_minor_locator(FixedLocator(lengths[~np.isin(lengths, powers)].tolist()))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("evaluation length (tokens)")
    if len(train_lengths) == 1:
        to_multiples = (lambda x: np.asarray(x) / base, lambda r: np.asarray(r) * base)
        above = axes.secondary_xaxis("top", functions=to_multiples)
        ticks(above.xaxis, powers / base, "{x:g}x")
        above.tick_params(length=2, pad=1.5, colors=QUIET, labelsize=6.5)


def mark_training(axes, train_lengths) -> None:
    """Draws a dotted vertical line at the training length."""
    for length in train_lengths:
        dotted = {"color": INK, "linestyle": DOTS, "linewidth": 0.9, "zorder": 1.5}
        axes.axvline(length, label="training length", **dotted)
        beside = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate("L", (length, 1), (2.5, -2), va="top", fontsize=7, **beside)


def level(axes, height: float, label: str, line=DOTS) -> None:
    """Draws a horizontal line at what chance or another reference has."""
    stroke = {"color": QUIET, "linestyle": line, "linewidth": 0.9, "zorder": 1.5}
    axes.axhline(height, label=label, **stroke)


def bound(draw: Callable, at: float, label: str, line=DOTS) -> None:
    """Draws a dark line behind the data, by `axvline` or `axhline` of a panel."""
    draw(at, color=INK, linestyle=line, linewidth=0.8, label=label, zorder=1)


def perplexity_axis(axes) -> None:
    """Makes a log y axis with ticks at 1, 2, 5 and the like, written as plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def note(rows: pd.DataFrame) -> str:
    """Returns the line under a figure: study, training length, number of seeds (least to greatest
    where models differ) and the schemes with larger models.
    """
    model = ["scheme", "data", "extension", "train_length", "params"]
    counts = rows.groupby(model, dropna=False)["seed"].nunique()
    least = counts.min()
    seeds = max(counts.max(), 1)
    several = f"{least} to {seeds}" if least < seeds else f"{seeds}"
    lengths = ", ".join(str(length) for length in sorted(rows["train_length"].unique()))
    parents = rows["parent"].unique() if "parent" in rows else []
    of = "".join(f" · {name}" for name in sorted(parents) if name.endswith("]"))
    study = ", ".join(sorted(rows["study"].unique()))
    sizes = f" · {others}" if (others := larger(rows)) else ""
    return (
        f"study {study}{of} · trained at L = {lengths} tokens · "
        f"{several} seed{'s' * bool(seeds > 1)}{sizes}"
    )


def larger(rows: pd.DataFrame) -> str:
    """Returns the schemes whose models have at least LARGER times the parameters of the smallest: a
    layer more is about a quarter more parameters, and rows hold no number of layers. 0 is unknown.
    """
    least = rows.groupby("scheme")["params"].min().dropna()
    least = least[least > 0]
    large = least[least >= LARGER * least.min()]
    if large.empty:
        return ""
    names = ", ".join(large.index) if len(large) <= 3 else f"{len(large)} of {len(least)} schemes"
    rest = least.drop(large.index)
    return f"{names}: {span(large, ',')} parameters, others {span(rest, ',')}"


def span(numbers: pd.Series, form: str = "") -> str:
    """Returns `3 to 8`, the least number and the greatest in a format; nothing without numbers."""
    ends = (numbers.min(), numbers.max()) if len(numbers) else ()
    return " to ".join(dict.fromkeys(f"{number:{form}}" for number in ends))


def spread_note(rows: pd.DataFrame, interval: str) -> str:
    """Returns `note` and what lines and intervals are: `interval` for one seed, Student's over
    seeds for several.
    """
    if rows.groupby(["scheme", "data", "extension", "status"])["run"].nunique().max() == 1:
        return f"{note(rows)} · {interval}"
    return (
        f"{note(rows)} · thin: seeds, thick: their mean; 95 % t-interval over seeds from 3 on; "
        f"single seeds: {interval}"
    )
