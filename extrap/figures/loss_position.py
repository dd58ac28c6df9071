"""What the text further back than L is worth, at each position of one long window.

Drawn is the loss of one window less that of the same tokens read through windows of L. Below 0:
text from further back than L helps; above: the model breaks. One line per series, over bins of
positions that grow with them, each the median of three neighbours; from three seeds on with a
t-interval of the paired differences. Lines leave the frame .5 nats above 0. Conventions of arXiv
2205.09921 (figure 5).
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from extrap.figures.drawing.axes import QUIET, mark_training, note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room, thin_lines
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import Series, seeds, select, series
from extrap.results.stats.intervals import t_interval

NEEDS = {"task": "nll-position", "metric": "nll", "axis": "position", "seen": "text"}
CUT = 0.5
SMOOTH = 3


def enough(rows) -> bool:
    return {"full", "windowed"} <= set(rows["protocol"])


def draw(rows):
    rows = select(rows, **NEEDS)
    longest = rows.groupby("run")["length"].transform("max")
    rows = rows[rows["length"] == longest]
    found = [(s, difference(s)) for s in series(rows)]
    found = [(s, table) for s, table in found if len(table)]
    room = label_room([s.label for s, _ in found])
    figure, axes = panels((1, 1), (3.6, label_height(len(found), 2.6)), right=room, gap=0)
    panel = axes[0, 0]
    ends = [_line(panel, s, table) for s, table in found]
    panel.axhline(0, color=QUIET, linewidth=0.8, label="zero", zorder=1.5)
    trained = sorted(rows["train_length"].unique())
    low = min(float(table.mean(axis=1).min()) for _, table in found)
    panel.set_ylim(min(-0.1, 1.3 * low), CUT)
    _positions(panel, int(min(trained)), int(rows["length"].max()))
    mark_training(panel, trained)
    panel.set_xlabel("position (tokens)")
    panel.set_ylabel("change of loss (nats per token)")
    label_ends(panel, ends)
    below = (
        f"{note(rows)} · thin: seeds, thick: their mean; band: 95 % t-interval over seeds from 3 "
        f"on · medians of {SMOOTH} bins · above {CUT:g} is cut off"
    )
    entitle(figure, "What text further back than L is worth", below)
    return figure


def difference(s: Series):
    """(positions, runs): full less windowed in nats, smoothed; of positions that both have."""
    full, windowed = (
        seeds(s.rows[s.rows["protocol"] == protocol], "at") for protocol in ("full", "windowed")
    )
    table = (full - windowed).dropna(how="all")
    return table.rolling(SMOOTH, center=True, min_periods=1).median()


def _line(panel, s: Series, table) -> End:
    style = style_of(s)
    middle = table.mean(axis=1)
    thin_lines(panel, table, style)
    if table.shape[1] >= 3:
        low, high = t_interval(table.to_numpy(float).T)
        panel.fill_between(table.index, low, high, color=style.colour, alpha=0.15, linewidth=0)
    stroke = style.stroke | {"marker": ""}
    panel.plot(middle.index, middle, label=s.label, zorder=3, **stroke)
    return End(s.label, style, float(middle.index[-1]), min(float(middle.iloc[-1]), CUT))


def _positions(panel, length: int, longest: int) -> None:
    """log2 axis in tokens from L/4 on, with a tick at every second power of two times L."""
    ticks = [length * 2.0**k for k in range(-2, 12) if length * 2.0**k <= longest]
    panel.set_xscale("log", base=2)
    panel.set_xlim(length / 4, longest * 1.06)
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda length, _: f"{length:g}"))
