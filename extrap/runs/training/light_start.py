"""Imports torchmetrics, which Lightning needs, without the packages that it would import and nobody
here uses: a second of processor time at the start of every job.
"""

from importlib import import_module

from lightning_utilities.core import imports

UNUSED = ("matplotlib", "scipy", "transformers")
"""Optional packages of torchmetrics, for its own plots and for metrics of sound and text."""

_available, _met = imports.package_available, imports.RequirementCache.__bool__
imports.package_available = lambda name: not name.startswith(UNUSED) and _available(name)
imports.RequirementCache.__bool__ = lambda self: (
    not (self.requirement or "").startswith(UNUSED) and _met(self)
)
try:
    import_module("torchmetrics")
finally:
    imports.package_available, imports.RequirementCache.__bool__ = _available, _met
