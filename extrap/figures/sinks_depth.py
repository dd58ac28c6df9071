"""Retrieval accuracy by depth, as it is and with one token hidden: the first, or another.

What falls in the second row and not in the third hangs on the first token alone (arXiv 2510.10276).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "sinks", "metric": "accuracy", "seen": "retrieval"}
FORMS = {"records": "records", "padded": "in text", "alias": "by alias"}
READINGS = {"": "", "-first": "\nwithout first", "-other": "\nwithout other"}
PROTOCOLS = {
    f"{form}{reading}": f"{words}{more}"
    for form, words in FORMS.items()
    for reading, more in READINGS.items()
}


def draw(rows):
    return depth_figure(rows, NEEDS, PROTOCOLS, "Retrieval without the first token")
