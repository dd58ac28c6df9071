"""How large a model and its scheme may be, checked before they are built: a mistyped number is told in a line, no memory is filled."""

import os
from collections.abc import Mapping
from typing import Any

from extrap.errors import UserError

WHOLE = {"dim": 2**16, "heads": 2**12, "layers": 1000}
ENTRIES = ("rows", "hidden", "buckets", "max_distance", "maximum", "span", "threshold", "width", "steps")  # options that size a tensor
MOST = 2**22
BYTES = 16  # of a parameter in training: itself, its gradient, two moments, float32


def check_named(options: Any) -> None:
    """Raises UserError for what a file of configuration may hold in place of a model's options, and where one of them is missing."""
    if not isinstance(options, Mapping) or not options:
        raise UserError(f"model={options}: must be the options of a model; choose one of conf/model, such as model=tiny")
    if missing := [name for name in (*WHOLE, "norm", "ratio", "dropout") if name not in options]:
        raise UserError(f"model.{missing[0]}: missing; give it, or choose one of conf/model, such as model=tiny")


def check_model(options: Mapping[str, Any]) -> None:
    """Raises UserError for a width, a depth, a ratio or a dropout that no model has. Types are checked already."""
    for name, most in WHOLE.items():
        if not 1 <= options[name] <= most:
            raise UserError(f"model.{name}={options[name]}: a whole number from 1 to {most}")
    if options["dim"] % options["heads"]:
        raise UserError(f"model.heads={options['heads']}: must divide model.dim={options['dim']}")
    if not 0 < options["ratio"] <= 64:
        raise UserError(f"model.ratio={options['ratio']}: a number above 0, at most 64")
    if not 0 <= options["dropout"] < 1:
        raise UserError(f"model.dropout={options['dropout']}: from 0 to below 1")


def check_scheme(node: Any, path: str = "scheme") -> None:
    """Raises UserError for a table or a layer of a scheme, at any depth of its options, that would fill the memory while it is made."""
    items = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list) else ()
    for name, value in items:
        if name in ENTRIES and isinstance(value, int) and value > MOST:
            raise UserError(f"{path}.{name}={value}: a whole number of at most {MOST}")
        check_scheme(value, f"{path}[{name}]" if isinstance(node, list) else f"{path}.{name}")


def check_memory(params: int) -> None:
    """Raises UserError for a model that cannot be trained in the memory of this machine."""
    if (need := BYTES * params) > (have := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
        raise UserError(
            f"model: {params:,} parameters need {need / 2**30:,.0f} GiB in training and this machine has {have / 2**30:,.0f}; "
            "give a smaller model.dim, model.layers or data.vocabulary"
        )
