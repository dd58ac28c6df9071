"""Figures that differ in their data alone, as a table: accuracy by depth, over depth and length;
losses and accuracies by length.

Every protocol has a gate of its own: a run that misses it at the training length is grey, hollow
and named "below the gate" there, for a circuit that never formed is no sign of a lost middle. Depth
0 is the start of the context; the record at depth d of n tokens lies (1 - d) n before the query.
Conventions of Lost in the Middle (arXiv 2307.03172, figures 5, 7, 9 and 10), of heat-maps of a
needle in a haystack, and of ALiBi (arXiv 2108.12409, figure 1).
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

from matplotlib.figure import Figure

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.depth_panels import MARKS, depth_figure
from extrap.figures.drawing.heatmap import heat_maps
from extrap.figures.drawing.length_panels import chance_lines, length_figure
from extrap.results.rows import comparable
from extrap.results.series import select

FIGURES: dict[str, SimpleNamespace] = {}
HOPS = {n: f"{n} hop" + "s" * (n != 1) for n in range(9)}
READINGS = {"": "", "-first": "\nwithout first", "-other": "\nwithout other"}
FORMS = {"records": "records", "padded": "in text", "alias": "by alias"}
DOCUMENTS = "bands: 95 % bootstrap over documents"


def _add(name: str, caption: str, needs: dict, draw: Callable[..., Figure], **own) -> None:
    own |= {"__name__": f"{__name__}.{name}", "CAPTION": caption, "NEEDS": needs, "draw": draw}
    FIGURES[name] = SimpleNamespace(**own)


def by_depth(
    name: str, caption: str, needs: dict, protocols: dict, title: str, make="", marks=MARKS
) -> None:
    """Adds a figure of accuracy against depth, a panel per length; protocols: {name: words}."""

    def draw(rows):
        return depth_figure(rows, needs, protocols, title, marks)

    _add(name, caption, needs, draw, MAKE=make)


def over_lengths(name: str, caption: str, task: str, protocols: tuple, title: str) -> None:
    """Adds a heat map over depth and length, a panel per scheme, of means over seeds."""
    needs = {"task": task, "metric": "accuracy", "seen": "retrieval"}
    _add(name, caption, needs, partial(heat_maps, needs=needs, protocols=protocols, title=title))


def by_length(
    name: str, caption: str, needs: dict, protocols: dict, what: str, title: str, interval: str,
    make="", **form,
) -> None:  # fmt: skip
    """Adds a figure of numbers against length, a panel per protocol.

    protocols: {name: title of its panel}; what: name of the y axis; interval: of one seed; form:
    of `length_figure`.
    """

    def draw(rows):
        chance = select(rows, **needs | {"metric": "chance"})
        rows = comparable(select(rows, **{k: v for k, v in needs.items() if k != "protocol"}))
        note = spread_note(rows, interval) + " · dotted: chance" * (len(chance) > 0)
        also = chance_lines(chance) if len(chance) else None
        return length_figure(rows, protocols, what, title, note, also=also, **form)

    _add(name, caption, needs, draw, MAKE=make)


by_depth(
    "kv_depth",
    "Retrieval accuracy against the depth of the asked record, a panel per length: what is lost, "
    "and where.",
    {"task": "kv", "metric": "accuracy", "seen": "retrieval"},
    {
        "records": "records: pairs\ngrow with length",
        "padded": "padded: fixed\npairs, more filler",
    },
    "Retrieval accuracy by depth",
)
by_depth(
    "kv_query_depth",
    "Retrieval accuracy by depth with the query last, first or on both sides: does it help to know "
    "the question?",
    {"task": "kv-query", "metric": "accuracy", "seen": "retrieval"},
    {"last": "query last", "both": "query first\nand last", "first": "query first"},
    "Where the query stands",
    " data=query",
)
by_depth(
    "alias_depth",  # NoLiMa (arXiv 2502.05167) in miniature
    "Accuracy of retrieval by another name than the one in the record, by depth: without literal "
    "overlap, what is left?",
    {"task": "alias", "metric": "accuracy"},
    {
        "literal": "by the name\nitself",
        "one-hop": "by its alias",
        "two-hops": "by the alias\nof the alias",
        "two-hops-unseen": "the same,\nnever asked",
    },
    "Retrieval by an alias",
    " data=alias task=[alias]",
)
by_depth(
    "nth_depth",  # MRCR (arXiv 2409.12640); whoever finds the key and not the order has 1 / copies
    "Accuracy by the rank of the record asked for among several with one key, counted from the "
    "start and from the end.",
    {"task": "nth", "metric": "accuracy"},
    {"start": "n-th from\nthe start", "end": "n-th from\nthe end"},
    "The n-th record of a key",
    " data=nth task=[nth]",
    "dotted: chance; wide dots: any value of the key",
)
by_depth(
    "recall_depth",  # a demand for the end makes recency, a uniform one primacy (arXiv 2510.10276)
    "Recall of the items of a list by their place in it: free recall and running span.",
    {"task": "recall", "metric": "recall"},
    {"recall": "all items", "span": "last items"},
    "Recall of a list",
    " data=recall task=[recall]",
    "dotted: chance; wide dots: any items of the list, which is all that recall wants",
)
by_depth(
    "sinks_depth",  # lost without the first token and not without another (arXiv 2510.10276)
    "Retrieval accuracy by depth, as it is and with one token hidden: the first, or another.",
    {"task": "sinks", "metric": "accuracy", "seen": "retrieval"},
    {
        f"{form}{r}": f"{words}{more}"
        for form, words in FORMS.items()
        for r, more in READINGS.items()
    },
    "Retrieval without the first token",
)
by_depth(
    "trace_depth",  # variable tracking of RULER (arXiv 2404.06654), this one and the next
    "Accuracy of following a chain of assignments, by the depth of its value and the number of "
    "hops.",
    {"task": "trace", "metric": "accuracy"},
    {f"hops-{n}": words for n, words in HOPS.items()},
    "Chains of assignments",
    " data=trace task=[trace]",
    "dotted: chance; wide dots: the value of any chain",
)
by_depth(
    "trace_written_depth",
    "Accuracy of writing a chain of assignments out, by the depth of its value and the number of "
    "hops.",
    {"task": "trace-written", "metric": "accuracy"},
    {f"written-{n}": words for n, words in HOPS.items()},
    "Chains of assignments, written out",
    " data=trace-written task=[trace-written]",
    "dotted: chance; wide dots: any of the chains",
)


def _serial(rows):
    """The index of a record as its depth: 0 for the first, 1 for the last."""
    rows = rows[(rows["axis"] == "index") | (rows["metric"] == "guess")]
    last = rows.groupby(["task", "length"])["at"].transform("max")
    rows = rows.assign(depth=rows["at"] / last, at=last + 1)
    needs = {"task": "kv-serial", "metric": "accuracy", "seen": "retrieval"}
    titles = {"records": "every record"}
    return depth_figure(rows, needs, titles, "Retrieval at every index", items="records")


_add(
    "kv_serial",  # as the paper's figure 7, at every index in place of a few depths
    "Retrieval accuracy at every index of the asked record (serial position), a panel per length: "
    "how wide are the ends?",
    {"task": "kv-serial", "metric": "accuracy", "axis": "index", "seen": "retrieval"},
    _serial,
)
over_lengths(
    "kv_heatmap",
    "Retrieval accuracy over depth and length, a panel per scheme: does length fail, or distance "
    "to the query?",
    "kv",
    ("records", "padded"),
    "Retrieval accuracy over depth and length",
)
over_lengths(
    "haystack_heatmap",
    "Needles in text over depth and length, a panel per scheme: one needle, and one among needles "
    "of other keys.",
    "haystack",
    ("single", "multikey"),
    "Needles in a haystack",
)
by_length(
    "aggregate_length",  # RULER (arXiv 2404.06654) and OOLONG (arXiv 2511.02817) in miniature
    "Accuracy of questions about all of a context, by its length: which label stands most often, "
    "and how often.",
    {"task": "aggregate", "metric": "accuracy"},
    {
        "majority": "most frequent label",
        "first-half": "of the first half",
        "count": "count of a label",
    },
    "accuracy",
    "Questions about all of a context",
    "Wilson, 95 %",
    " data=aggregate task=[aggregate]",
)
by_length(
    "repeat_length",  # a copy is of L tokens: all that is asked for lies L back (kexue.fm 9708)
    "Token accuracy on running text and on later copies of a text, against length: is what was "
    "read once still there?",
    {"task": "repeat", "metric": "accuracy", "protocol": "later"},
    {"nonrepeated": "running text", "later": "later copies of a text of L tokens"},
    "token accuracy",
    "Repeated and non-repeated text by length",
    DOCUMENTS,
    " data=repeat",
)
by_length(
    "loss_length",  # ALiBi (arXiv 2108.12409, figure 1), with both axes in logarithms
    "Perplexity against evaluation length, by protocol: which schemes read on beyond the length "
    "they were trained on.",
    {"task": "nll", "metric": "nll", "seen": "text"},
    {
        "nonoverlap": "non-overlapping windows",
        "sliding": "sliding window",
        "last_segment": "same last segment, growing context",
    },
    "perplexity per token",
    "Perplexity beyond the training length",
    DOCUMENTS,
    size=(2.35, 2.7),
    gap=0.12,
    each=True,
    perplexity=True,
    names=lambda found: [*(s.label for s in found), "learned (to 64)"],
)
by_length(
    "long_loss",  # LongPPL (arXiv 2410.23771); tokens of the third panel are a run's own
    "Loss on the tokens that a long context helps, and on all tokens, against visible context.",
    {"task": "long-loss", "metric": "nll", "seen": "text"},
    {"all": "all tokens", "match": "told from far away", "own": "helped within L"},
    "nats per token",
    "Loss where a long context helps",
    DOCUMENTS,
    size=(2.3, 2.5),
    gap=0.45,
    each=True,
    limits=None,
    across="visible context (tokens)",
)
