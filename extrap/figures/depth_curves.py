"""A table of figures that differ in their data alone: accuracy by depth, or over depth and length.

Every protocol has a gate of its own: a run that misses it at the training length is grey, hollow
and named "below the gate" there, for a circuit that never formed is no sign of a lost middle. Depth
0 is the start of the context; the record at depth d of n tokens lies (1 - d) n before the query.
Conventions of Lost in the Middle (arXiv 2307.03172, figures 1, 5, 7, 9 and 10), and of heat-maps of
a needle in a haystack.
"""

from itertools import product

from extrap.figures.drawing import style_of
from extrap.figures.drawing.depth_panels import MARKS, depth_figure
from extrap.figures.drawing.heatmap import heat_maps
from extrap.figures.drawing.table import Table

FIGURES = Table(__name__)
add = FIGURES.add
HOPS = {n: f"{n} hop" + "s" * (n != 1) for n in range(9)}
READINGS = {"": "", "-first": "\nwithout first", "-other": "\nwithout other"}
FORMS = {"records": "records", "padded": "in text", "alias": "by alias"}
QUERIES = {"last": "query last", "both": "query first\nand last", "first": "query first"}
HIDDEN = {f"{form}{end}": FORMS[form] + READINGS[end] for form, end in product(FORMS, READINGS)}
REFERENCES = {"oracle": (0, (4, 2)), "closed_book": (0, (4, 1.5, 1, 1.5))}


add(
    "kv_depth",
    "Retrieval accuracy against the depth of the asked record, a panel per length: what is lost, "
    "and where.",
    {"task": "kv", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    protocols={
        "records": "records: pairs\ngrow with length",
        "padded": "padded: fixed\npairs, more filler",
    },
    title="Retrieval accuracy by depth",
)
add(
    "kv_query_depth",
    "Retrieval accuracy by depth with the query last, first or on both sides: does it help to know "
    "the question?",
    {"task": "kv-query", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    protocols=QUERIES,
    title="Where the query stands",
    make=" data=query",
)
add(
    "alias_depth",  # NoLiMa (arXiv 2502.05167) in miniature
    "Accuracy of retrieval by another name than the one in the record, by depth: without literal "
    "overlap, what is left?",
    {"task": "alias", "metric": "accuracy"},
    depth_figure,
    protocols={
        "literal": "by the name\nitself",
        "one-hop": "by its alias",
        "two-hops": "by the alias\nof the alias",
        "two-hops-unseen": "the same,\nnever asked",
    },
    title="Retrieval by an alias",
    make=" data=alias task=[alias]",
)
add(
    "nth_depth",  # MRCR (arXiv 2409.12640); whoever finds the key and not the order has 1 / copies
    "Accuracy by the rank of the record asked for among several with one key, counted from the "
    "start and from the end.",
    {"task": "nth", "metric": "accuracy"},
    depth_figure,
    protocols={"start": "n-th from\nthe start", "end": "n-th from\nthe end"},
    title="The n-th record of a key",
    marks="dotted: chance; wide dots: any value of the key",
    make=" data=nth task=[nth]",
)
add(
    "recall_depth",  # a demand for the end makes recency, a uniform one primacy (arXiv 2510.10276)
    "Recall of the items of a list by their place in it: free recall and running span.",
    {"task": "recall", "metric": "recall"},
    depth_figure,
    protocols={"recall": "all items", "span": "last items"},
    title="Recall of a list",
    marks="dotted: chance; wide dots: any items of the list, which is all that recall wants",
    make=" data=recall task=[recall]",
)
add(
    "sinks_depth",  # lost without the first token and not without another (arXiv 2510.10276)
    "Retrieval accuracy by depth, as it is and with one token hidden: the first, or another.",
    {"task": "sinks", "metric": "accuracy", "seen": "retrieval"},
    depth_figure,
    protocols=HIDDEN,
    title="Retrieval without the first token",
)
add(
    "trace_depth",  # variable tracking of RULER (arXiv 2404.06654), this one and the next
    "Accuracy of following a chain of assignments, by the depth of its value and the number of "
    "hops.",
    {"task": "trace", "metric": "accuracy"},
    depth_figure,
    protocols={f"hops-{n}": words for n, words in HOPS.items()},
    title="Chains of assignments",
    marks="dotted: chance; wide dots: the value of any chain",
    make=" data=trace task=[trace]",
)
add(
    "trace_written_depth",
    "Accuracy of writing a chain of assignments out, by the depth of its value and the number of "
    "hops.",
    {"task": "trace-written", "metric": "accuracy"},
    depth_figure,
    protocols={f"written-{n}": words for n, words in HOPS.items()},
    title="Chains of assignments, written out",
    marks="dotted: chance; wide dots: any of the chains",
    make=" data=trace-written task=[trace-written]",
)


def _serial(rows, needs: dict):
    """The index of a record as its depth: 0 for the first, 1 for the last."""
    rows = rows[(rows["axis"] == "index") | rows["metric"].isin(("guess", "chance"))]
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
    protocols={"ordered": "hard distractors\nfirst", "shuffled": "distractors\nin no order"},
    title="Question answering by place of the document",
    marks=f"dashed: gold document alone, dash-dotted: none · {MARKS}",
    lines=_answers,
    items="K",
    make=" data=suite",
)


def _documents(rows, needs: dict):
    return depth_figure(
        rows,
        needs,
        QUERIES,
        "Answers from documents",
        marks="dashed: gold document alone, dash-dotted: none",
        lines=_answers,
        items="documents",
        counted=True,
    )


add(
    "multidoc_qa",  # figures 1, 5 and 9 of the paper
    "Accuracy of answers from documents in plain text, by place of the document that holds the "
    "answer.",
    {"task": "multidoc-qa", "metric": "accuracy"},
    _documents,
    make=" model=smollm2-135m stage=evaluate task=[multidoc-qa]",
)


def _lost(rows, needs: dict):
    """One record has no other place."""
    rows = rows[(rows["task"] != needs["task"]) | (rows["at"] != 1)]
    return depth_figure(
        rows,
        needs,
        QUERIES,
        "Lost in the middle",
        marks="wide dots: a record at random",
        items="records",
        counted=True,
    )


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
    protocols=("records", "padded"),
    title="Retrieval accuracy over depth and length",
)
add(
    "haystack_heatmap",
    "Needles in text over depth and length, a panel per scheme: one needle, and one among needles "
    "of other keys.",
    {"task": "haystack", "metric": "accuracy", "seen": "retrieval"},
    heat_maps,
    protocols=("single", "multikey"),
    title="Needles in a haystack",
)
