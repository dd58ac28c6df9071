"""Imports torchmetrics, which Lightning needs, without the packages that it would import and nobody
here uses: a second of processor time at the start of every job.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from lightning_utilities.core import imports

UNUSED = ("matplotlib", "scipy", "transformers")
"""Optional packages of torchmetrics, for its own plots and for metrics of sound and text."""


@contextmanager
def _missing(names: tuple[str, ...]) -> Iterator[None]:
    """Lets Lightning's libraries find these packages missing; Python still finds them."""
    available, met = imports.package_available, imports.RequirementCache.__bool__

    def met_still(self: imports.RequirementCache) -> bool:
        return not (self.requirement or "").startswith(names) and met(self)

    imports.package_available = lambda name: not name.startswith(names) and available(name)
    imports.RequirementCache.__bool__ = met_still
    try:
        yield
    finally:
        imports.package_available, imports.RequirementCache.__bool__ = available, met


with _missing(UNUSED):
    import_module("torchmetrics")
