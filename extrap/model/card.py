"""Card of a scheme: the last lines of its class docstring, from which extrap makes the table of
schemes.
"""

import inspect
import re
import sys

from extrap.model.parts import parts
from extrap.model.scheme import Scheme

FIELDS = ("Kind", "Past L", "Source")
SOURCE = re.compile(r"arXiv \d{4}\.\d{4,5}|https?://[^\s,;)]*[^\s,;).]")
KINDS = ("none", "modifier", "relative", "absolute")


def card(scheme: Scheme | type[Scheme]) -> dict[str, str]:
    """Returns {field: text} for Kind, Used by (- if missing), Past L, Source (the first one of the
    module if missing). Raises ValueError for another missing field and an unknown kind.
    """
    cls = scheme if inspect.isclass(scheme) else type(scheme)
    found = re.findall(r"^([A-Z][\w ]*): (.*)$", inspect.getdoc(cls) or "", re.MULTILINE)
    sources = SOURCE.findall(" ".join((sys.modules[cls.__module__].__doc__ or "").split()))
    lines: dict[str, str] = dict(found)
    lines.setdefault("Used by", "-")
    if sources:
        lines.setdefault("Source", sources[0])
    if missing := [field for field in FIELDS if field not in lines]:
        raise ValueError(f"{cls.__name__}: its docstring lacks the line {missing[0]}: ...")
    if lines["Kind"] not in KINDS:
        raise ValueError(f"{cls.__name__}: Kind: {lines['Kind']} is not one of {', '.join(KINDS)}")
    return lines


def describe_parts(scheme: Scheme) -> str:
    """Returns the classes of the parts of a scheme: `RoPE + LogN`."""
    return " + ".join(type(part).__name__ for part in parts(scheme))


def kind(scheme: Scheme) -> str:
    """Returns the strongest kind of the parts: absolute over relative over modifier over none."""
    return max((card(part)["Kind"] for part in parts(scheme)), key=KINDS.index, default="none")
