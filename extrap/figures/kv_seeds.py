"""Retrieval accuracy against length, one thin line per seed, a panel per scheme: how much is luck?

Seeds that missed the gate at the training length are grey. Nothing is averaged and no
best seed is picked. Conventions of arXiv 2402.09371 (variance over seeds).
"""

from extrap.figures.drawing import (
    SHARE,
    entitle,
    leftmost,
    length_axis,
    lowest,
    mark_training,
    note,
    seed_paths,
    style_of,
    wrapped,
)
from extrap.figures.kv_length import means
from extrap.results.series import Series, seeds, select, series

NEEDS = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
MAKE, OF = " seed=0,1,2", " of several seeds"
ACROSS = 5


def enough(rows) -> bool:
    return rows["seed"].nunique() > 1


def draw(rows):
    rows = select(means(rows), protocol="records")
    found = series(rows.assign(status="ok"))
    styles = {}
    for s in series(rows):
        style, reads = style_of(s), reader(s)  # once: a series may have a thousand runs
        styles |= {(run, reads): style for run in s.rows["run"].unique()}
    margins = {"right": 0.3, "gap": 0.2, "between": 0.72, "top": 0.86}
    figure, axes = wrapped(len(found), ACROSS, (1.5, 1.5), **margins)
    for panel, s in zip(axes, found, strict=True):
        train_lengths = sorted(s.rows["train_length"].unique())
        table = seeds(s.rows, "length")
        alike, reads = {}, reader(s)
        for run in table:
            alike.setdefault(styles[run, reads], []).append(run)
        for style, runs in alike.items():
            stroke = {"color": style.colour, "linestyle": style.line}
            seed_paths(panel, table[runs], linewidth=0.8, alpha=0.9, **stroke)
        length_axis(panel, rows["length"], train_lengths)
        mark_training(panel, train_lengths)
        panel.set_ylim(SHARE)
        panel.set_title(f"{s.label} ({s.rows['run'].nunique()})", color=style_of(s).text, pad=14)
        panel.set_xlabel("length (tokens)" if lowest(panel) else "")
        panel.set_ylabel("accuracy" if leftmost(panel) else "")
        panel.tick_params(labelleft=leftmost(panel))
        panel.tick_params(axis="x", labelsize=6)
    below = "records, mean over depths; (number of seeds); grey: below the gate"
    entitle(figure, "Every seed", f"{note(rows)} · {below}")
    return figure


def reader(s: Series) -> tuple[str, str, float]:
    """Returns the scheme of a series, its extension and factor: each reads the same runs anew. A
    run of several studies has a scheme for each.
    """
    return s.scheme, s.extension, float(s.rows["factor"].iloc[0])
