"""An SVG of Matplotlib in three fifths of its bytes: a style that many marks share is said once.

Coordinates keep a hundredth of a point, lines no indentation. It looks the same, and text stays
text.
"""

import re
from collections import Counter
from functools import lru_cache
from itertools import chain

TAG = re.compile(r"<[^<>]+>")
"""An opening tag with its attributes; text between tags has neither < nor > of its own."""
STYLE = re.compile(r' style="([^"]*)"')
PLACES = re.compile(r' (?:d|x|y|points)="[^"]*"|(?:translate|rotate)\([^)]*\)')
"""Coordinates; a factor of `scale` or `matrix` is none."""
NUMBER = re.compile(r"-?\d+\.\d{3,}")
LAST = "</style>"
"""Of the rule for all marks that Matplotlib writes first."""


def slim(svg: bytes) -> bytes:
    """The same picture; the same bytes for the same bytes."""
    text = re.sub(r"(?m)^ +", "", svg.decode())
    counted = Counter(chain.from_iterable(map(STYLE.findall, TAG.findall(text))))
    shared = [style for style, times in counted.items() if times > 1]
    names = {style: f"s{i}" for i, style in enumerate(shared)}

    def rounded(number: re.Match[str]) -> str:
        return _hundredths(number[0])

    def short(tag: re.Match[str]) -> str:
        placed = PLACES.sub(lambda places: NUMBER.sub(rounded, places[0]), tag[0])
        return STYLE.sub(lambda s: f' class="{names[s[1]]}"' if s[1] in names else s[0], placed)

    rules = "".join(f"\n.{name}{{{style}}}" for style, name in names.items())
    return TAG.sub(short, text).replace(LAST, f"{rules}{LAST}", 1).encode()


@lru_cache(2**16)  # seeds share their places on the x axis, a million numbers of a large figure
def _hundredths(number: str) -> str:
    return f"{float(number):.2f}".rstrip("0").rstrip(".")
