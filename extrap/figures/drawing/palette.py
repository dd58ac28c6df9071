"""Colour and marker of every scheme and extension by name, the same in all figures.

Colours are told apart under normal, protan, deutan and tritan vision, and have a contrast of at
least 3 on white; series below the gate are grey. The YAML of a scheme or an extension names its
colour and marker in the line `# Drawn: plum s`: relatives share a colour and differ in the marker,
and schemes that a study sets side by side differ in both. The hash of a name draws any other.
"""

import re
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from matplotlib.colors import to_rgb

from extrap.utils.paths import conf_dir

COLOURS = {
    "blue": "#0039e3",
    "azure": "#1881f2",
    "amber": "#c98400",
    "red": "#d83c3c",
    "plum": "#621097",
    "brown": "#5b2907",
    "black": "#222222",
    "green": "#31a364",
    "olive": "#6f5f00",
    "magenta": "#c22a9c",
    "petrol": "#02495c",
}
BELOW_GATE = "#9a9a9a"
MARKERS = "osD^vPX*<>phd8H"
DRAWN = re.compile(r"^# Drawn: (\w+) (\S)$", re.MULTILINE)
EVEN = 0.179
"""Luminance at which black and white letters have the same contrast."""


def colour_and_marker(name: str, group: str = "scheme") -> tuple[str, str]:
    """Returns colour and marker of a scheme (or of group "extension") by the name of its YAML.

    A label that goes on after a name and a hyphen, as a tuned model's does, has the colour of
    the longest name that begins it.
    """
    known = registered(group)
    if name in known:
        return known[name]
    if begun := [short for short in known if name.startswith(f"{short}-")]:
        return known[max(begun, key=len)][0], _hashed(name, MARKERS)
    return COLOURS[_hashed(name, list(COLOURS))], _hashed(name[::-1], MARKERS)


@cache
def registered(group: str) -> dict[str, tuple[str, str]]:
    """Returns {name: (colour, marker)} of the YAMLs of conf/<group> that name them."""
    files = (Path(conf_dir()) / group).glob("*.yaml")
    drawn = {path.stem: DRAWN.search(path.read_text(encoding="utf-8")) for path in files}
    return {name: (COLOURS[line[1]], line[2]) for name, line in drawn.items() if line}


def _hashed(name: str, choices):
    return choices[crc32(name.encode()) % len(choices)]


def ink_on(colour) -> str:
    """Returns black or white, which stands out more on a colour.

    Source: WCAG 2.2, w3.org/TR/WCAG22/#dfn-relative-luminance.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return "black" if np.dot(linear, (0.2126, 0.7152, 0.0722)) > EVEN else "white"
