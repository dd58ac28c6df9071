"""Families of extensions, by what they change, and styles that tell the members of one apart.

Families are read off the files of the classes as text, so that drawing needs no torch.
"""

import re
from functools import cache
from pathlib import Path

import extrap
from extrap.figures.drawing import CONDITIONS, Style, method_style
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

ANGLES, DISTANCES, WINDOWS = "positions and angles", "distances", "windows, parts, others"
FAMILIES = (ANGLES, WINDOWS, DISTANCES)
OF_CLASS = {"Frequencies": ANGLES, "Interpolation": ANGLES, "DistanceExtension": DISTANCES}
"""Families by a class of extensions, or by the one that it extends."""


@cache
def family(method: str) -> str:
    """The family of a method by the name of its YAML; WINDOWS where its file is not known."""
    path = Path(conf_dir()) / "extension" / f"{method}.yaml"
    if not path.is_file():
        return WINDOWS
    target = read_yaml(path)["_target_"]
    *module, name = target.split(".")
    if module[:1] != ["extrap"]:
        return WINDOWS
    root = Path(extrap.__file__).parents[1]
    file = root.joinpath(*module).with_suffix(".py")
    source = file.read_text(encoding="utf-8")
    classes = re.findall(r"^class (\w+)\((\w+)\)", source, re.MULTILINE)
    bases = dict(classes)
    while name not in OF_CLASS and name in bases:
        name = bases[name]
    return OF_CLASS.get(name, WINDOWS)


def told_apart(methods: list[str]) -> dict[str, Style]:
    """{method: its style}, with another line for each further method of one colour."""
    used: dict[str, int] = {}
    out = {}
    for method in methods:
        plain = method_style(method)
        place = used.setdefault(plain.colour, 0)
        used[plain.colour] += 1
        dashes = CONDITIONS[place % len(CONDITIONS)]
        out[method] = Style(plain.colour, dashes, plain.marker)
    return out
