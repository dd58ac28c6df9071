"""Code of the studies in this repository, each `results/<study>` as a package.

    extrap.studies.extension.figures.density    the file results/extension/figures/density.py

A folder of results runs no code, whoever made it: Python finds the studies of WITH_CODE here and no
other folder, and only beside the package in a source checkout. Neither the working folder nor
`--results` changes where these packages lie; an installed wheel has no studies.
"""

import sys
from types import ModuleType

from extrap.utils.paths import repository

WITH_CODE = (
    "analytic",
    "audit",
    "bands",
    "disputes",
    "extension",
    "grid",
    "predictors",
    "pretrained",
    "reference",
    "tasks",
    "zoo",
)
"""Studies that git tracks code of. A new one is added by name."""

__path__: list[str] = []  # the import system finds nothing here by itself


def packages() -> dict[str, str]:
    """Returns {package: folder} of the studies with code; empty outside a source checkout."""
    root = repository()
    folders = {name: root / "results" / name for name in WITH_CODE} if root else {}
    return {f"{__name__}.{name}": str(f) for name, f in folders.items() if f.is_dir()}


for _name, _folder in packages().items():
    _study = ModuleType(_name)
    _study.__path__ = [_folder]
    sys.modules[_name] = _study
    globals()[_name.rpartition(".")[2]] = _study
