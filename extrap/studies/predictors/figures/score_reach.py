"""Does a score rank schemes by what they find at 4 L? Accuracy at 4 L against five scores.

A mark per scheme, the mean over seeds and heads: rotary schemes in grey, RoPE and the schemes
without rotation in their colours. The study zoo measured accuracy, of its own trainings of the same
runs.
Over each panel the mean over seeds of Spearman's rank correlation.
"""

import pandas as pd

from extrap.figures.drawing import entitle, legend_beside, note, scheme_style, wrapped
from extrap.results.rows import comparable
from extrap.results.series import behind, called, select
from extrap.results.stats.ranks import spearman

BESIDE = "zoo"
NEEDS = {"task": "rotary", "metric": "semantic", "protocol": "records", "extension": "direct"}
FOUND = {"task": "kv", "metric": "accuracy", "protocol": "records", "extension": "direct"}
OF = " of three schemes at 4 L"
MAKE = " scheme=rope,p-rope,hope"
TIMES = 4
SCORES = {
    "semantic score at 4 L": (NEEDS, TIMES),
    "positional score at 4 L": (NEEDS | {"metric": "positional"}, TIMES),
    "band of frequencies at 4 L": (NEEDS | {"metric": "band"}, TIMES),
    "copying score at L": ({"task": "heads", "metric": "best", "extension": "direct"}, 1),
    "copying score at 4 L": ({"task": "heads", "metric": "best", "extension": "direct"}, TIMES),
}
GREY = {"color": "0.55", "marker": "o", "markersize": 3, "label": "_rotary"}


def enough(rows) -> bool:
    return len(_by_scheme(rows, NEEDS, TIMES)) >= 3


def _by_scheme(rows: pd.DataFrame, needs: dict, times: int) -> pd.DataFrame:
    """Returns the mean of a metric over depths and heads at `times` L: a row per scheme, a column
    per seed.
    """
    rows = select(rows, **needs)
    at = rows[rows["length"] == times * rows["train_length"]]
    means = at.pivot_table("value", "scheme", "seed")
    return means.round(9)  # means that tie stay tied


def draw(rows):
    rows = comparable(rows[behind(rows["scheme"]) != "nope"])  # it has a third layer
    own = rows[rows["study"] != BESIDE]
    zoo = rows[rows["study"] == BESIDE]
    found = _by_scheme(zoo, FOUND, TIMES)
    scores = {}
    for words, (needs, times) in SCORES.items():
        score = _by_scheme(own, needs, times)
        if len(score) >= 3:
            scores[words] = score
    first = scores[next(iter(SCORES))]
    margins = {"gap": 0.4, "left": 0.6, "right": 0.95, "top": 0.5, "between": 0.75}
    figure, axes = wrapped(len(scores), 3, (1.55, 1.3), **margins)
    marks = {}
    for panel, (words, score) in zip(axes, scores.items(), strict=True):
        both = score.index.intersection(found.index)
        seeds = score.columns.intersection(found.columns)
        x = score.loc[both]
        y = found.loc[both, seeds]
        named = {called("rope"), *both.difference(first.index)}
        for scheme in both:
            style = scheme_style(scheme)
            look = {"label": scheme, "color": style.colour, "marker": style.marker, "markersize": 4}
            look = look if scheme in named else GREY
            look |= {"linestyle": "", "zorder": 2 + (scheme in named)}
            across = x.loc[scheme].mean()
            up = y.loc[scheme].mean()
            [mark] = panel.plot([across], [up], **look)
            if scheme in named:
                marks[scheme] = mark
        correlations = [spearman(x[seed], y[seed]) for seed in seeds]
        panel.set(xlabel=words, ylim=(-0.05, 1.05), yticks=[0, 0.5, 1])
        if correlations:
            rho = sum(correlations) / len(seeds)
            panel.set_title(f"rank correlation {rho:+.2f}", loc="left")
        panel.set_ylabel(f"found at {TIMES} L" if panel in axes[::3] else "")
    legend_beside(axes[:3][-1], [*marks.values()])
    words = f"{note(own)} · grey: other rotary schemes · found: study {BESIDE}"
    entitle(figure, "What predicts reach?", words)
    return figure
