"""Where the studies of a results folder lie.

results/<study>            a study: the folder of its rows
results/<study>/<part>     a part of it: a study of its own, with rows, statements and a name that
                           no other study has, in the folder of the whole
"""

from collections.abc import Iterator
from pathlib import Path

PACKED = "rows.parquet"
LOOSE = "rows"
PACKED_ITEMS = "items.parquet"
LOOSE_ITEMS = "items"


def has_rows(folder: Path) -> bool:
    """True for the folder of a study that keeps rows, packed or in files."""
    return (folder / PACKED).is_file() or (folder / LOOSE).is_dir()


def place(results: Path, study: str) -> Path:
    """Returns the folder of a study: a part lies inside its whole, others in results/<study>. Links
    count as no folder of a whole.
    """
    own = results / study
    if has_rows(own) or not results.is_dir():
        return own
    for whole in sorted(results.iterdir()):
        if whole.is_symlink():
            continue
        part = whole / study
        declared = part / "findings.yaml"  # a part that is declared has no rows yet
        if has_rows(part) or declared.exists():
            return part
    return own


def root(folder: Path) -> Path:
    """Returns the results folder that the folder of a study, or of a part, lies in."""
    whole = folder.parent
    return whole.parent if has_rows(whole) else whole


def having(results: Path, file: str) -> Iterator[Path]:
    """Yields the folders of studies that hold such a file, by a glob such as `figures/*.svg`."""
    up = len(Path(file).parts) - 1
    paths = [*results.glob(f"*/{file}"), *results.glob(f"*/*/{file}")]
    found = {path.parents[up] for path in paths}
    yield from sorted(found, key=lambda folder: folder.name)


def with_rows(results: Path, loose: str = "*.csv") -> list[Path]:
    """Returns the folders of studies that hold rows, packed or in files of such names."""
    packed = having(results, PACKED)
    sheets = having(results, f"{LOOSE}/{loose}")
    return sorted({*packed, *sheets}, key=lambda folder: folder.name)
