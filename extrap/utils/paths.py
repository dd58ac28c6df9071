"""The folders of the configuration files and of the repository."""

from pathlib import Path


def conf_dir() -> str:
    """Returns the absolute path of `conf`: inside an installed package, else beside the package in
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
