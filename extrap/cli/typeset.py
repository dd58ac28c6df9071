"""The table of a paper as LaTeX, Markdown or CSV."""

import csv
import io
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from extrap.figures.drawing.formats import latex
from extrap.results.published import Published, Score
from extrap.utils import markdown

INTERVAL = "95 % intervals over seeds, from three seeds on"
NAMES = {"kv": "retrieval", "nll": "text", "accuracy": "accuracy", "perplexity": "perplexity"}


def as_latex(table: Published, caption: str) -> str:
    r"""Returns a table for \input; it needs the package booktabs. The best of a column is bold, a
    dagger marks what lies below the gate.
    """
    groups = [(key, len([*part])) for key, part in groupby(table.columns, key=lambda c: c[:3])]
    heads, rules, at = [""], [], 2
    for (task, protocol, metric), count in groups:
        words = latex(f"{NAMES.get(task, task)}, {protocol}: {metric}")
        heads.append(rf"\multicolumn{{{count}}}{{c}}{{{words}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}")
        at += count
    lengths = ["series", *(f"{column[3]:g}\\,$L$" for column in table.columns)]
    lines = [" & ".join([latex(label), *cells]) for label, cells in _cells(table, LATEX)]
    note = latex(f"{caption}; {INTERVAL}; the best of a column is bold")
    rows = " \\\\\n".join(lines)
    return (
        "\\begin{table}\n\\centering\\small\n"
        f"\\begin{{tabular}}{{l{'r' * len(table.columns)}}}\n\\toprule\n"
        f"{' & '.join(heads)} \\\\\n{''.join(rules)}\n{' & '.join(lengths)} \\\\\n\\midrule\n"
        f"{rows} \\\\\n\\bottomrule\n\\end{{tabular}}\n"
        f"\\caption{{{note}; $^\\dagger$: below the gate.}}\n\\end{{table}}"
    )


def as_markdown(table: Published, caption: str) -> str:
    """Returns a table of Markdown with a line about it."""
    head = ["series"]
    for task, protocol, metric, multiple in table.columns:
        head.append(f"{NAMES.get(task, task)}, {protocol}: {metric} at {multiple:g} L")
    lines = [[label, *cells] for label, cells in _cells(table, MARKDOWN)]
    about = f"{caption}; {INTERVAL}; the best of a column is bold; †: below the gate."
    return f"{markdown.table([head, *lines])}\n\n{about}"


def as_csv(table: Published) -> str:
    """Returns a line for each score, unrounded; an interval is empty below three seeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("series", "task", "protocol", "metric", "multiple", "value", "low", "high", "seeds")
    writer.writerow([*names, "below_gate"])
    for label, line in table.lines.items():
        for column in table.columns:
            if column in line:
                score = line[column]
                ends = ["" if np.isnan(end) else end for end in (score.low, score.high)]
                own = [score.value, *ends, score.seeds, int(score.below)]
                writer.writerow([label, *column, *own])
    return text.getvalue().rstrip("\n")


LATEX = (r"\textbf{%s}", r"\,{\scriptsize[%s, %s]}", r"$^\dagger$")
MARKDOWN = ("**%s**", " [%s, %s]", " †")


def _cells(table: Published, marks: tuple[str, str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yields each series with its cells."""
    for label, line in table.lines.items():
        yield label, [_cell(table, line, column, marks) for column in table.columns]


def _cell(table: Published, line: dict, column, marks: tuple[str, str, str]) -> str:
    if column not in line:
        return "--" if marks is LATEX else "-"
    score: Score = line[column]
    bold, interval, dagger = marks
    best = _short(score.value, column) == _short(table.best(column), column)
    text = _short(score.value, column)
    text = bold % text if best and not score.below else text
    ends = (_short(score.low, column), _short(score.high, column))
    text += "" if np.isnan(score.low) else interval % ends
    return text + dagger * score.below


def _short(value: float, column) -> str:
    if column[2] == "perplexity":
        return f"{value:.1f}" if value < 100 else f"{value:.0f}"
    text = f"{value:.2f}"
    return text.removeprefix("0") if text.startswith("0.") else text
