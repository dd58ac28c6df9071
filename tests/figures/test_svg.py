"""A slim SVG is the same picture: every mark where it was, in the style that it had."""

import io
import re
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from extrap.figures.drawing.svg import slim

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def written():
    figure = Figure()
    axes = figure.subplots()
    for i in range(5):
        axes.plot([0, 1 / 3, 1], [i / 7, i / 3, i / 2], "o--", label=f'0.12345 <{i}> style="x" ;}}')
        axes.text(0.1, i / 7, "  two  blanks", rotation=30)
    axes.imshow([[1, 2], [3, 4]])
    axes.imshow([range(2000)], interpolation="none", aspect="auto")
    axes.legend()
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def marks(svg: bytes) -> list[tuple[str, str, dict[str, str]]]:
    """Tag, text and attributes of each element, the style of a class as its own."""
    root = ElementTree.fromstring(svg)
    rules = "".join(root.itertext())
    styles = dict(re.findall(r"^\.(s\d+)\{(.*)\}$", rules, re.MULTILINE))
    found = []
    for element in root.iter():
        given = dict(element.attrib)
        if (name := given.pop("class", None)) is not None:
            assert "style" not in given
            given["style"] = styles[name]
        text = "" if element.tag.endswith("style") else (element.text or "").strip()
        found.append((element.tag, text, given))
    return found


def test_every_mark_is_where_and_as_it_was(written):
    before, after = marks(written), marks(slim(written))
    assert [mark[:2] for mark in before] == [mark[:2] for mark in after]
    for (tag, _, one), (_, _, other) in zip(before, after, strict=True):
        assert one.keys() == other.keys(), tag
        for name, value in one.items():
            short = other[name]
            if name == "style" or value == short:
                assert value.strip() == short.strip()
                continue
            assert NUMBER.sub("#", value).split() == NUMBER.sub("#", short).split()
            far = [float(x) for x in NUMBER.findall(value)]
            assert [float(x) for x in NUMBER.findall(short)] == pytest.approx(far, abs=0.0051)


def test_it_is_smaller_and_slim_already(written):
    once = slim(written)
    assert len(once) < 0.8 * len(written)
    assert slim(once) == once
