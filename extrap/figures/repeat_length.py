"""Token accuracy on running text and on later copies of a text, against length: is what was read
once still there?

A copy is of one training length, so that all that is asked for lies L tokens back; a run that
copies nothing within L is marked. Source: https://kexue.fm/archives/9708.
"""

from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import select

NEEDS = {"task": "repeat", "metric": "accuracy", "protocol": "later"}
MAKE = " data=repeat"
PROTOCOLS = {"nonrepeated": "running text", "later": "later copies of a text of L tokens"}


def draw(rows):
    rows = select(rows, task="repeat", metric="accuracy")
    title = "Repeated and non-repeated text by length"
    return length_figure(
        rows, PROTOCOLS, "token accuracy", title, "bands: 95 % bootstrap over documents"
    )
