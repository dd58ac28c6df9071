"""Properties: each file has COLUMNS and measure(subject), a value per column."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

ORDER = (
    "unique", "deterministic", "codes", "length", "shift", "norm", "far", "order", "decay", "axes",
    "cost",
)  # fmt: skip
"""Order of the table; other files come after these."""


def available() -> dict[str, ModuleType]:
    """The groups of columns by name."""
    names = [found.name for found in iter_modules(__path__)]
    known = [*(name for name in ORDER if name in names), *sorted(set(names) - set(ORDER))]
    return {name: import_module(f"{__name__}.{name}") for name in known}
