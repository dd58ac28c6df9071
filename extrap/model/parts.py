"""The parts of a scheme: one walk through stacks, layers and wrappers; and the card of each, the
last lines of its class docstring, from which extrap makes the table of schemes.
"""

import re
import sys

from extrap.model.scheme import Scheme
from extrap.utils.docs import docstring

FIELDS = ("Kind", "Past L")
SOURCE = re.compile(r"arXiv \d{4}\.\d{4,5}|https?://[^\s,;)]*[^\s,;).]")
KINDS = ("none", "modifier", "relative", "absolute")


def parts(scheme: Scheme, layer: int | None = None) -> list[Scheme]:
    """Returns the parts of a scheme that act in one layer, or anywhere."""
    if scheme.sealed:
        return [scheme]
    found: list[Scheme] = []
    for one in scheme.inner(layer):
        found += parts(one, layer)
    return found or [scheme]


def has(scheme: Scheme, flag: str, layer: int | None = None) -> bool:
    """True if some part of a scheme, sealed ones included, sets a flag of the class."""
    return getattr(scheme, flag) or any(has(one, flag, layer) for one in scheme.inner(layer))


def check_causal(scheme: Scheme, layer: int | None = None) -> None:
    """Raises ValueError if a part has no form without the causal mask."""
    for part in parts(scheme, layer):
        if part.causal_only:
            raise ValueError(f"{type(part).__name__} has no form without the causal mask")


def card(scheme: Scheme) -> dict[str, str]:
    """Returns {field: text} for Kind, Used by (- if missing), Past L, Source (if missing the first
    one of the module, else -). Raises ValueError for another missing field and an unknown kind.
    """
    cls = type(scheme)
    found = re.findall(r"^([A-Z][\w ]*): (.*)$", docstring(cls), re.MULTILINE)
    page = docstring(sys.modules[cls.__module__])
    source = SOURCE.search(" ".join(page.split()))
    lines = {"Used by": "-", "Source": source[0] if source else "-"}
    lines |= dict(found)
    for field in FIELDS:
        if field not in lines:
            raise ValueError(f"{cls.__name__}: its docstring lacks the line {field}: ...")
    if lines["Kind"] not in KINDS:
        raise ValueError(f"{cls.__name__}: Kind: {lines['Kind']} is not one of {', '.join(KINDS)}")
    return lines


def describe_parts(scheme: Scheme) -> str:
    """Returns the classes of the parts of a scheme: `RoPE + LogN`."""
    return " + ".join(type(part).__name__ for part in parts(scheme))


def kind(scheme: Scheme) -> str:
    """Returns the strongest kind of the parts: absolute over relative over modifier over none."""
    kinds = [card(part)["Kind"] for part in parts(scheme)]
    return max(kinds, key=KINDS.index)
