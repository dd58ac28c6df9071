"""Figures that differ in their data alone, as a table: accuracy by depth, over depth and length;
losses and accuracies by length.

Every protocol has a gate of its own: a run that misses it at the training length is grey, hollow
and named "below the gate" there, for a circuit that never formed is no sign of a lost middle. Depth
0 is the start of the context; the record at depth d of n tokens lies (1 - d) n before the query.
Conventions of Lost in the Middle (arXiv 2307.03172, figures 1, 5, 7, 9 and 10), of heat-maps of a
needle in a haystack, and of ALiBi (arXiv 2108.12409, figure 1).
"""

from collections.abc import Callable
from types import SimpleNamespace

from matplotlib.figure import Figure

from extrap.figures.drawing import level, spread_note, style_of
from extrap.figures.drawing.depth_panels import MARKS, depth_figure
from extrap.figures.drawing.heatmap import heat_maps
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.rows import comparable
from extrap.results.series import select

FIGURES: dict[str, SimpleNamespace] = {}
HOPS = {n: f"{n} hop" + "s" * (n != 1) for n in range(9)}
READINGS = {"": "", "-first": "\nwithout first", "-other": "\nwithout other"}
FORMS = {"records": "records", "padded": "in text", "alias": "by alias"}
QUERIES = {"last": "query last", "both": "query first\nand last", "first": "query first"}
REFERENCES = {"oracle": (0, (4, 2)), "closed_book": (0, (4, 1.5, 1, 1.5))}
DOCUMENTS = "bands: 95 % bootstrap over documents"


def add(
    name: str,
    caption: str,
    needs: dict,
    form: Callable[..., Figure],
    *words,
    make="",
    own=(),
    **more,
) -> None:
    """Adds a figure. form(rows, needs, *words, **more) draws it; make: MAKE of the figure; own: its
    other names, as a module has them.
    """

    def draw(rows):
        return form(rows, needs, *words, **more)

    named = {"__name__": f"{__name__}.{name}", "CAPTION": caption, "NEEDS": needs, "MAKE": make}
    FIGURES[name] = SimpleNamespace(**named, draw=draw, **dict(own))


def by_length(rows, needs: dict, protocols: dict, what: str, title: str, interval: str, **more):
    """Returns a figure of numbers against length, a panel per protocol.

    protocols: {name: title of its panel}; what: name of the y axis; interval: of one seed; more:
    arguments of `length_figure`.
    """
    chance = select(rows, **needs | {"metric": "chance"})
    rows = comparable(select(rows, **{k: v for k, v in needs.items() if k != "protocol"}))

    def guesses(panel, protocol: str) -> None:
        for value in chance.loc[chance["protocol"] == protocol, "value"].unique():
            level(panel, value, "chance")

    note = spread_note(rows, interval) + " · dotted: chance" * (len(chance) > 0)
    return length_figure(rows, protocols, what, title, note, also=guesses, **more)


add(
    "kv_depth",
    "Retrieval accuracy against the depth of the asked record, a panel per length: what is lost, "
    "and where.",
    {"task": "kv", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    {
        "records": "records: pairs\ngrow with length",
        "padded": "padded: fixed\npairs, more filler",
    },
    "Retrieval accuracy by depth",
)
add(
    "kv_query_depth",
    "Retrieval accuracy by depth with the query last, first or on both sides: does it help to know "
    "the question?",
    {"task": "kv-query", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    QUERIES,
    "Where the query stands",
    make=" data=query",
)
add(
    "alias_depth",  # NoLiMa (arXiv 2502.05167) in miniature
    "Accuracy of retrieval by another name than the one in the record, by depth: without literal "
    "overlap, what is left?",
    {"task": "alias", "metric": "accuracy"},
    depth_figure,
    {
        "literal": "by the name\nitself",
        "one-hop": "by its alias",
        "two-hops": "by the alias\nof the alias",
        "two-hops-unseen": "the same,\nnever asked",
    },
    "Retrieval by an alias",
    make=" data=alias task=[alias]",
)
add(
    "nth_depth",  # MRCR (arXiv 2409.12640); whoever finds the key and not the order has 1 / copies
    "Accuracy by the rank of the record asked for among several with one key, counted from the "
    "start and from the end.",
    {"task": "nth", "metric": "accuracy"},
    depth_figure,
    {"start": "n-th from\nthe start", "end": "n-th from\nthe end"},
    "The n-th record of a key",
    "dotted: chance; wide dots: any value of the key",
    make=" data=nth task=[nth]",
)
add(
    "recall_depth",  # a demand for the end makes recency, a uniform one primacy (arXiv 2510.10276)
    "Recall of the items of a list by their place in it: free recall and running span.",
    {"task": "recall", "metric": "recall"},
    depth_figure,
    {"recall": "all items", "span": "last items"},
    "Recall of a list",
    "dotted: chance; wide dots: any items of the list, which is all that recall wants",
    make=" data=recall task=[recall]",
)
add(
    "sinks_depth",  # lost without the first token and not without another (arXiv 2510.10276)
    "Retrieval accuracy by depth, as it is and with one token hidden: the first, or another.",
    {"task": "sinks", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    {
        f"{form}{r}": f"{words}{more}"
        for form, words in FORMS.items()
        for r, more in READINGS.items()
    },
    "Retrieval without the first token",
)
add(
    "trace_depth",  # variable tracking of RULER (arXiv 2404.06654), this one and the next
    "Accuracy of following a chain of assignments, by the depth of its value and the number of "
    "hops.",
    {"task": "trace", "metric": "accuracy"},
    depth_figure,
    {f"hops-{n}": words for n, words in HOPS.items()},
    "Chains of assignments",
    "dotted: chance; wide dots: the value of any chain",
    make=" data=trace task=[trace]",
)
add(
    "trace_written_depth",
    "Accuracy of writing a chain of assignments out, by the depth of its value and the number of "
    "hops.",
    {"task": "trace-written", "metric": "accuracy"},
    depth_figure,
    {f"written-{n}": words for n, words in HOPS.items()},
    "Chains of assignments, written out",
    "dotted: chance; wide dots: any of the chains",
    make=" data=trace-written task=[trace-written]",
)


def _serial(rows, needs: dict):
    """The index of a record as its depth: 0 for the first, 1 for the last."""
    rows = rows[(rows["axis"] == "index") | (rows["metric"] == "guess")]
    last = rows.groupby(["task", "length"])["at"].transform("max")
    rows = rows.assign(depth=rows["at"] / last, at=last + 1)
    needs = {name: value for name, value in needs.items() if name != "axis"}
    titles = {"records": "every record"}
    return depth_figure(rows, needs, titles, "Retrieval at every index", items="records")


add(
    "kv_serial",  # as the paper's figure 7, at every index in place of a few depths
    "Retrieval accuracy at every index of the asked record (serial position), a panel per length: "
    "how wide are the ends?",
    {"task": "kv-serial", "metric": "accuracy", "axis": "index", "seen": "retrieval"},
    _serial,
)


def _answers(panel, s) -> None:
    """The answers with the gold document alone, and with no document, of each trained series."""
    for protocol, line in REFERENCES.items() if s.ok else ():
        found = s.rows.loc[s.rows["protocol"] == protocol, "value"]
        if len(found):
            stroke = {"color": style_of(s).colour, "linestyle": line, "linewidth": 0.8}
            panel.axhline(found.mean(), alpha=0.8, label=f"{s.label}, {protocol}", **stroke)


add(
    "multidoc_depth",  # below its closed-book line, a curve is misled by the other documents
    "Accuracy against the place of the document that holds the answer, a panel per number of them: "
    "lost in the middle?",
    {"task": "multidoc", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    {"ordered": "hard distractors\nfirst", "shuffled": "distractors\nin no order"},
    "Question answering by place of the document",
    f"dashed: gold document alone, dash-dotted: none · {MARKS}",
    _answers,
    "K",
    make=" data=suite",
)


def _lost(rows, needs: dict):
    """One record has no other place."""
    rows = rows[(rows["task"] != needs["task"]) | (rows["at"] != 1)]
    form = {"items": "records", "counted": True}
    marks = "wide dots: a record at random"
    return depth_figure(rows, needs, QUERIES, "Lost in the middle", marks, **form)


add(
    # in the format of the paper, whose score is the metric `substring`; drawn is `accuracy`, which
    # a model with a quotation mark less can have
    "lost_in_the_middle",
    "Accuracy by place of the record asked for, in the format of the paper, by number of records: "
    "lost in the middle?",
    {"task": "lost-in-the-middle", "metric": "accuracy"},
    _lost,
    own={"OF": " of at least two records", "enough": lambda rows: bool((rows["at"] > 1).any())},
)
add(
    "kv_heatmap",
    "Retrieval accuracy over depth and length, a panel per scheme: does length fail, or distance "
    "to the query?",
    {"task": "kv", "metric": "accuracy", "seen": "retrieval"},
    heat_maps,
    ("records", "padded"),
    "Retrieval accuracy over depth and length",
)
add(
    "haystack_heatmap",
    "Needles in text over depth and length, a panel per scheme: one needle, and one among needles "
    "of other keys.",
    {"task": "haystack", "metric": "accuracy", "seen": "retrieval"},
    heat_maps,
    ("single", "multikey"),
    "Needles in a haystack",
)
add(
    "aggregate_length",  # RULER (arXiv 2404.06654) and OOLONG (arXiv 2511.02817) in miniature
    "Accuracy of questions about all of a context, by its length: which label stands most often, "
    "and how often.",
    {"task": "aggregate", "metric": "accuracy"},
    by_length,
    {
        "majority": "most frequent label",
        "first-half": "of the first half",
        "count": "count of a label",
    },
    "accuracy",
    "Questions about all of a context",
    "Wilson, 95 %",
    make=" data=aggregate task=[aggregate]",
)
add(
    "repeat_length",  # a copy is of L tokens: all that is asked for lies L back (kexue.fm 9708)
    "Token accuracy on running text and on later copies of a text, against length: is what was "
    "read once still there?",
    {"task": "repeat", "metric": "accuracy", "protocol": "later"},
    by_length,
    {"nonrepeated": "running text", "later": "later copies of a text of L tokens"},
    "token accuracy",
    "Repeated and non-repeated text by length",
    DOCUMENTS,
    make=" data=repeat",
)
add(
    "loss_length",  # ALiBi (arXiv 2108.12409, figure 1), with both axes in logarithms
    "Perplexity against evaluation length, by protocol: which schemes read on beyond the length "
    "they were trained on.",
    {"task": "nll", "metric": "nll", "seen": "text"},
    by_length,
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
add(
    "long_loss",  # LongPPL (arXiv 2410.23771); tokens of the third panel are a run's own
    "Loss on the tokens that a long context helps, and on all tokens, against visible context.",
    {"task": "long-loss", "metric": "nll", "seen": "text"},
    by_length,
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
