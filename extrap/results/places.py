"""Where the studies of a results folder lie.

results/<study>/rows           a study
results/<study>/<part>/rows    a part of it: a study of its own, with rows, statements and a
                               name that no other study has, in the folder of the whole
"""

from collections.abc import Iterator
from pathlib import Path


def place(results: Path, study: str) -> Path:
    """Returns the folder of a study: a part lies inside its whole, others in results/<study>. Links
    count as no folder of a whole.
    """
    own = results / study
    if (own / "rows").is_dir() or not results.is_dir():
        return own
    parts = (whole / study for whole in sorted(results.iterdir()) if not whole.is_symlink())
    signs = ("rows", "findings.yaml")  # a part that is declared has no rows yet
    return next((part for part in parts if any((part / s).exists() for s in signs)), own)


def root(folder: Path) -> Path:
    """Returns the results folder that the folder of a study, or of a part, lies in."""
    return folder.parent.parent if (folder.parent / "rows").is_dir() else folder.parent


def having(results: Path, file: str) -> Iterator[Path]:
    """Yields the folders of studies that hold such a file, by a glob such as `rows/*.csv`."""
    up = len(Path(file).parts) - 1
    found = {p.parents[up] for where in ("*", "*/*") for p in results.glob(f"{where}/{file}")}
    yield from sorted(found, key=lambda folder: folder.name)
