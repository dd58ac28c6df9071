"""Accuracy of retrieval by another name than the one in the record, by depth: without literal
overlap, what is left?

Each way to ask has a gate of its own. NoLiMa (arXiv 2502.05167) in miniature.
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "alias", "metric": "accuracy"}
MAKE = " data=alias task=[alias]"
PROTOCOLS = {
    "literal": "by the name\nitself",
    "one-hop": "by its alias",
    "two-hops": "by the alias\nof the alias",
    "two-hops-unseen": "the same,\nnever asked",
}


def draw(rows):
    return depth_figure(rows, NEEDS, PROTOCOLS, "Retrieval by an alias")
