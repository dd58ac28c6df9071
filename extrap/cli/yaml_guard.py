"""How much a file of configuration may hold. YAML can refer to what it said before: a few hundred
bytes of references to references stand for more values than any memory holds.
"""

import re
from pathlib import Path

import yaml

from extrap.utils.errors import UserError

LARGEST = 2**20
"""Bytes of a file."""

VALUES = 100_000
"""Values of a file when everything that it refers to is written out."""

DEEPEST = 100
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is not in every build
REFERENCE = re.compile(r"[*]\w")


def check(path: Path) -> None:
    """Raises UserError for a file that is too large, nested too deep, refers to too much or is not
    text. What is wrong with its YAML is left to whoever reads it.
    """
    if path.stat().st_size > LARGEST:
        raise UserError(f"{path}: larger than {LARGEST // 2**20} MiB, as no configuration is")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None
    try:
        _check_events(text, path)
    except yaml.YAMLError:
        return


def _check_events(text: str, path: Path) -> None:
    refers = REFERENCE.search(text) is not None
    if not refers and text.count("[") + text.count("{") + text.count("- ") < DEEPEST:
        return
    counts: list[int] = [0]
    anchors: list[str | None] = []
    known: dict[str, int] = {}
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent):
            itself = event.anchor in anchors  # it is written out without end
            counts[-1] += VALUES + 1 if itself else known.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            if event.anchor:
                known[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            inside, anchor = counts.pop(), anchors.pop()
            counts[-1] += inside
            if anchor:
                known[anchor] = inside
        if len(counts) > DEEPEST:
            raise UserError(f"{path}: nested deeper than {DEEPEST} levels")
        if counts[-1] > VALUES:
            raise UserError(
                f"{path}: more than {VALUES:,} values when what it refers to is written out"
            )
