"""Numbers and tables as text of the page; chart.py and this file escape what comes from rows."""

import math
from collections.abc import Sequence
from html import escape

TASKS = {
    "aggregate": "labels of all records,",
    "alias": "retrieval by an alias,",
    "algorithmic": "algorithms,",
    "context-gain": "text,",
    "gap": "text after a jump of positions,",
    "haystack": "needles in text,",
    "kv": "retrieval",
    "kv-query": "retrieval by place of the query,",
    "kv-serial": "retrieval by index,",
    "long-loss": "text that needs context,",
    "lost-in-the-middle": "lost in the middle,",
    "mqar": "multi-query recall,",
    "multidoc": "answers from documents,",
    "multidoc-qa": "answers from documents in text,",
    "nll": "text",
    "nth": "the n-th record of a key,",
    "recall": "list,",
    "repeat": "repeated text,",
    "trace": "chains of assignments,",
    "trace-written": "chains written out,",
}
PROTOCOLS = {
    "crop": "the last L tokens alone",
    "full": "all of the context",
    "last_segment": "same last segment",
    "nonoverlap": "separate windows",
    "padded": "fixed records, more filler",
    "sliding": "sliding window",
    "window": "windows of L tokens",
}
METRICS = {"nll": "perplexity"}


def measure(task: str, protocol: str, metric: str) -> str:
    """Returns the name of a score in words: `retrieval accuracy (records)`."""
    words = f"{TASKS.get(task, task.replace('-', ' '))} {METRICS.get(metric, metric)}"
    return words + (f" ({PROTOCOLS.get(protocol, protocol.replace('-', ' '))})" if protocol else "")


def number(value: float) -> str:
    """Returns a number in three or four digits: 0.971, 8.97, 34.6, 1230; - for a missing one."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞"
    if value != 0 and not 0.001 <= abs(value) < 1e5:
        return f"{value:.1e}"
    digits = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def interval(value: float, low: float, high: float) -> str:
    """Returns `0.62 [0.54, 0.70]`, without brackets if there is no interval."""
    if math.isnan(low) or math.isnan(high):
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


class Html(str):
    """Text that is HTML already."""


def table(head: Sequence[str], lines: Sequence[Sequence], caption="", kind="", series=()) -> str:
    """Returns a table of escaped text, in a box that scrolls by itself.

    A cell is text, Html, or (text, the number that it is sorted by).

    Args:
        kind: its class
        series: the index of the series that each line shows
    """
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    marks = [f' class="s" data-s="{i}"' for i in series] or [""] * len(lines)
    rows = zip(marks, lines, strict=True)
    body = "".join(f"<tr{mark}>{''.join(map(_cell, line))}</tr>" for mark, line in rows)
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}>{above}<thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(cell) -> str:
    words, value = cell if isinstance(cell, tuple) else (cell, math.nan)
    known = "" if math.isnan(value) else f' data-v="{float(value):.6g}"'
    return f"<td{known}>{words if isinstance(words, Html) else escape(str(words))}</td>"
