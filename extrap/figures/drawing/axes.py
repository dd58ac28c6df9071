"""Axes that several figures share: lengths in tokens (log2) with r = length / L above, perplexities
(log), the training length.
"""

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

QUIET = "#666666"
DOTS = (0, (1, 1.6))
LARGER = 1.2


def length_axis(axes, lengths, train_lengths) -> None:
    """log2 x axis in tokens with a tick at every whole power of two of the training length and,
    where that is one, r on top.
    """
    lengths, base = np.unique(np.asarray(lengths, float)), float(min(train_lengths))
    powers = [length for length in lengths if float(np.log2(length / base)).is_integer()] or list(
        lengths
    )
    axes.set_xscale("log", base=2)
    axes.set_xlim(lengths.min() / 1.15, lengths.max() * 1.06)
    axes.xaxis.set_major_locator(FixedLocator(powers))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda length, _: f"{length:g}"))
    axes.xaxis.set_minor_locator(
        FixedLocator([length for length in lengths if length not in powers])
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("evaluation length (tokens)")
    if len(train_lengths) == 1:
        above = axes.secondary_xaxis(
            "top", functions=(lambda x: np.asarray(x) / base, lambda r: np.asarray(r) * base)
        )
        above.xaxis.set_major_locator(FixedLocator([length / base for length in powers]))
        above.xaxis.set_minor_locator(NullLocator())
        above.xaxis.set_major_formatter(FuncFormatter(lambda r, _: f"{r:g}x"))
        above.tick_params(length=2, pad=1.5, colors=QUIET, labelsize=6.5)


def log2_axis(axes, ticks) -> None:
    """log2 x axis with ticks at these numbers alone, written plainly."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def mark_training(axes, train_lengths) -> None:
    """A dotted vertical line at the training length."""
    for length in train_lengths:
        dotted = {"color": "#222222", "linestyle": DOTS, "linewidth": 0.9, "zorder": 1.5}
        axes.axvline(length, label="training length", **dotted)
        beside = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate("L", (length, 1), (2.5, -2), va="top", fontsize=7, **beside)


def level(axes, height: float, label: str) -> None:
    """A dotted horizontal line that is a reference and no data."""
    dotted = {"color": QUIET, "linestyle": DOTS, "linewidth": 0.9, "zorder": 1.5}
    axes.axhline(height, label=label, **dotted)


def perplexity_axis(axes) -> None:
    """log y axis with ticks at 1, 2, 5 and the like, written as plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def decades(axis) -> None:
    """Ticks of a log axis written as plain numbers: text of figures is never read as TeX."""
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def note(rows: pd.DataFrame) -> str:
    """Returns the line under a figure: study, training length, number of seeds (least to greatest
    where models differ) and the schemes with larger models.
    """
    model = ["scheme", "data", "extension", "train_length", "params"]
    counts = rows.groupby(model, dropna=False)["seed"].nunique()
    least, seeds = counts.min(), max(counts.max(), 1)
    several = f"{least} to {seeds}" if least < seeds else f"{seeds}"
    lengths = ", ".join(str(length) for length in sorted(rows["train_length"].unique()))
    parents = rows["parent"].unique() if "parent" in rows else []
    of = "".join(f" · {name}" for name in sorted(parents) if name.endswith("]"))
    study = ", ".join(sorted(rows["study"].unique()))
    return (
        f"study {study}{of} · trained at L = {lengths} tokens · "
        f"{several} seed{'s' * bool(seeds > 1)}{_larger(rows)}"
    )


def _larger(rows: pd.DataFrame) -> str:
    """Names the schemes whose models have at least LARGER times the parameters of the smallest.

    A layer more is about a quarter more parameters; rows hold parameters and no number of layers.
    """
    least = rows.groupby("scheme")["params"].min().dropna()
    large = least[least >= LARGER * least.min()]
    if large.empty:
        return ""
    names = ", ".join(large.index) if len(large) <= 3 else f"{len(large)} of {len(least)} schemes"
    rest = least.drop(large.index)
    return f" · {names}: {_span(large)} parameters, others {_span(rest)}"


def _span(numbers: pd.Series) -> str:
    least, most = numbers.min(), numbers.max()
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def spread_note(rows: pd.DataFrame, interval: str) -> str:
    """`note`, and what lines and intervals are: those of the rows for one seed, over seeds for
    several.
    """
    if rows.groupby(["scheme", "data", "extension", "status"])["run"].nunique().max() == 1:
        return f"{note(rows)} · {interval}"
    return (
        f"{note(rows)} · thin: seeds, thick: their mean; 95 % t-interval over seeds from 3 on; "
        f"single seeds: {interval}"
    )
