"""`extrap-table STUDY`: the perplexities, retrieval accuracies and gates of a study in the terminal."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.results.baseline import beside
from extrap.utils.errors import UserError
from extrap.results.gates import gates
from extrap.results.rows import open_study, studies
from extrap.results.series import select
from extrap.results.summary import ACCURACIES, FAR, PARTS, PROTOCOLS, summary
from extrap.cli.exits import told

TITLES = {
    "nonoverlap": "non-overlapping", "last_segment": "last segment",
    "mean": "records: mean", "middle": "depth .5", "ends": "ends", "padded": "padded",
}  # fmt: skip


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser("extrap-table", description="Print the perplexities, retrieval accuracies and gates of a study.")
    parser.add_argument("study", metavar="STUDY", nargs="?", help="name of a folder in results")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="folder of the studies (default: results)")
    parser.add_argument("--beside", metavar="SCHEME", help="retrieval of every series beside that of one scheme, such as nope")
    asked = parser.parse_args(argv)
    with told("extrap-table"):
        if asked.study is None:
            raise UserError(f"STUDY is missing; studies in {asked.results}: {', '.join(studies(asked.results)) or 'none yet'}")
        rows = open_study(asked.results, asked.study)
        print(text(rows) if asked.beside is None else compared(rows, asked.beside))


def text(rows: pd.DataFrame) -> str:
    """The summary as aligned tables of at most about 120 columns, without what a study has nothing of."""
    table = summary(rows)
    perplexities = [(TITLES[p], [(f"{p} {m}x", f"{m}x", _perplexity) for m in FAR]) for p in PROTOCOLS]
    accuracies = [(TITLES[what], [(f"{what} {m}x", f"{m}x", _accuracy) for m in multiples]) for what, multiples in ACCURACIES.items()]
    losses = ("training loss", [(f"trained {part}", part, _loss) for part in PARTS])
    steps = ("steps", [("steps_to_90", "to 90 %", _whole)])
    length = ", ".join(str(n) for n in sorted(rows["train_length"].unique()))
    chance = select(rows, task="kv", metric="chance")["value"].max()
    sections = [[f"Study {', '.join(sorted(rows['study'].unique()))}, trained at L = {length} tokens; 1x = L"]]
    if _holds(table, losses, *perplexities):
        sections.append([
            "Loss at the end of training in nats per token; perplexity per token",
            *_aligned(table, [("", [("seeds", "seeds", _whole)]), losses, *perplexities]),
        ])  # fmt: skip
    if (table["verdict"] != "").any():
        sections.append([
            "Retrieval accuracy" + (f" (chance {chance:.3f})" if not np.isnan(chance) else "") + "; gate: mean at 1x, 90 %",
            *_aligned(table, [steps, *accuracies, ("", [("verdict", "verdict", str)])]),
        ])  # fmt: skip
    if len(learned := gates(rows[rows["task"] != "kv"])):
        sections.append(["Gates of other tasks: accuracy within the training length; seeds that reach 90 %, where not all do"])
        sections[-1] += _wrapped(learned)
    return "\n\n".join("\n".join(section) for section in sections)


def _holds(table: pd.DataFrame, *groups) -> bool:
    return bool(table[[key for _, members in groups for key, *_ in members]].notna().any(axis=None))


def _wrapped(table: pd.DataFrame, width: int = 120) -> list[str]:
    """Lines of a table of text, its columns in as many blocks as the width asks for."""
    blocks, first = [], 0
    while first < table.shape[1]:
        lines = []
        for last in range(first + 1, table.shape[1] + 1):
            columns = [_column(name, table[name], str.rjust) for name in table.columns[first:last]]
            wider = [("  ".join(cells)).rstrip() for cells in zip(_column("task", table.index, str.ljust), *columns, strict=True)]
            if lines and max(map(len, wider)) > width:
                break
            lines, end = wider, last
        blocks.append(lines)
        first = end
    return [line for block in blocks for line in [*block, ""]][:-1]


def compared(rows: pd.DataFrame, scheme: str) -> str:
    """Loss and accuracy of retrieval of every series, and by how much they differ from those of a scheme."""
    form = {"loss": _loss, "accuracy": _accuracy, "loss +": _signed, "accuracy +": _signed}
    columns = [(name, name.replace("+", f"- {scheme}"), form[name]) for name in form]
    return "\n".join(_aligned(beside(rows, scheme), [("retrieval: training loss in nats per token, accuracy at 1x", columns)]))


def _aligned(table: pd.DataFrame, groups) -> list[str]:
    """Lines of a plain-text table: titles of groups of columns, titles of columns, one line per series."""
    blocks = [_column("", _column("series", table.index, str.ljust), str.ljust)]
    for title, members in groups:
        columns = [_column(header, [form(v) for v in table[key]], str.ljust if form is str else str.rjust) for key, header, form in members]
        body = [" ".join(cells) for cells in zip(*columns, strict=True)]
        blocks.append(_column(title, body, str.rjust))
    return [("  ".join(cells)).rstrip() for cells in zip(*blocks, strict=True)]


def _column(title: str, cells, justify) -> list[str]:
    cells = [title, *cells]
    return [justify(cell, max(map(len, cells))) for cell in cells]


def _perplexity(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.{1 if value < 100 else 0}f}"


def _loss(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _accuracy(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}".lstrip("0")


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:+.2f}"


def _whole(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.0f}"


if __name__ == "__main__":
    main()
