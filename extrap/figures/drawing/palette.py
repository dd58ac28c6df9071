"""Colour and marker of every scheme and extension by name, the same in all figures.

Colours are told apart under normal, protan, deutan and tritan vision, and have a contrast of at
least 3 on white; series below the gate are grey. The YAML of a scheme or an extension names its
colour and marker in the line `# Drawn: plum s`: relatives share a colour and differ in the marker,
and schemes that a study sets side by side differ in both. A figure gives any other name what
its rows use least.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from zlib import crc32

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb

from extrap.results.series import ALIASES
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_text

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
SHAPES = ("o8hHp", "dD", "XP*")
"""Markers that look alike when they are small."""
NONE = MappingProxyType({})
CARD = 2**20
"""Bytes of a YAML in which a colour is looked for."""
GIVEN: ContextVar[Mapping[tuple[str, str], tuple[str, str]]] = ContextVar("given", default=NONE)
"""{(group, name): (colour, marker)} of names that have none."""
FOLDERS: ContextVar[tuple[Path, ...]] = ContextVar("folders", default=())
"""Folders of YAMLs of one's own."""
EVEN = 0.179
"""Luminance at which black and white letters have the same contrast."""


def colour_and_marker(name: str, group: str = "scheme") -> tuple[str, str]:
    """Returns colour and marker of a scheme (or of group "extension") by the name of its YAML.

    A label that goes on after a name and a hyphen, as a tuned model's does, has the colour of
    the longest name that begins it. Within `chosen`, a name without a colour has what the rows use
    least.
    """
    name = ALIASES.get().get(name, name)
    known = registered(group)
    if name in known:
        return known[name]
    if (group, name) in (given := GIVEN.get()):
        return given[group, name]
    if parent := _parent(name, known):
        return known[parent][0], _hashed(name, MARKERS)
    return COLOURS[_hashed(name, list(COLOURS))], _hashed(name[::-1], MARKERS)


def registered(group: str) -> dict[str, tuple[str, str]]:
    """Returns {name: (colour, marker)} of the YAMLs of conf/<group>, and of the folders of one's
    own in force, that name them. Raises UserError for an unknown colour or marker.
    """
    return _registered(group, (Path(conf_dir()), *FOLDERS.get()))


@cache
def _registered(group: str, folders: tuple[Path, ...]) -> dict[str, tuple[str, str]]:
    files = chain.from_iterable(sorted((folder / group).glob("*.yaml")) for folder in folders)
    lines = {path: DRAWN.search(read_text(path, CARD)) for path in files}
    return {path.stem: _read(path, line) for path, line in lines.items() if line}


def _read(path: Path, line: re.Match[str]) -> tuple[str, str]:
    for value, known in ((line[1], COLOURS), (line[2], MARKERS)):
        if value not in known:
            choices = ", ".join(known)
            raise UserError(f"{path}: Drawn", value, "unknown", f"choose one of {choices}")
    return COLOURS[line[1]], line[2]


@contextmanager
def chosen(*rows: pd.DataFrame) -> Iterator[None]:
    """Within, schemes and extensions of these rows that have no colour of their own have the one
    that the rows use least, and a marker of the least used shape.
    """
    given = GIVEN.set({})
    try:
        for column in ("scheme", "extension") if rows else ():
            names = chain.from_iterable(part[column].unique() for part in rows)
            GIVEN.set({**GIVEN.get(), **_assigned(column, {*map(str, names)} - {"direct"})})
        yield
    finally:
        GIVEN.reset(given)


def _assigned(group: str, names: set[str]) -> dict[tuple[str, str], tuple[str, str]]:
    known = registered(group)
    aliases = ALIASES.get()
    names = {aliases.get(name, name) for name in names}
    taken = [known[name] for name in sorted(names) if name in known]
    found = {}
    for name in sorted(names - known.keys()):
        parent = _parent(name, known)
        colours = [colour for colour, _ in taken]
        colour = known[parent][0] if parent else min(COLOURS.values(), key=colours.count)
        shapes = [shape(marker) for _, marker in taken]
        near = [marker for other, marker in taken if other == colour]

        def used(marker: str, near=near, shapes=shapes) -> tuple[int, int]:
            return near.count(marker), shapes.count(shape(marker))

        found[group, name] = colour, min(MARKERS, key=used)
        taken.append(found[group, name])
    return found


def shape(marker: str) -> str:
    """Returns the shape of a marker: small ones of a shape look alike."""
    return next((kind for kind in SHAPES if marker in kind), marker)


def _parent(name: str, known) -> str:
    return max((short for short in known if name.startswith(f"{short}-")), key=len, default="")


def _hashed(name: str, choices):
    return choices[crc32(name.encode()) % len(choices)]


def ink_on(colour) -> str:
    """Returns black or white, which stands out more on a colour.

    Source: WCAG 2.2, w3.org/TR/WCAG22/#dfn-relative-luminance.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return "black" if np.dot(linear, (0.2126, 0.7152, 0.0722)) > EVEN else "white"
