"""Where the configuration files and the repository lie."""

from pathlib import Path


def conf_dir() -> str:
    """Absolute path of `conf`: the copy inside an installed package first, then the one beside the
    package in the repository.

    Found from this file and not from the working folder, so `extrap` works from any folder and for
    every way of installing it. Raises FileNotFoundError when neither exists.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "conf", package.parent / "conf"):
        if (folder / "hydra").is_dir():
            return str(folder)
    raise FileNotFoundError(
        f"no configuration files in {package / 'conf'} or {package.parent / 'conf'}"
    )


def repository() -> Path | None:
    """Returns the folder of the source checkout that extrap was imported from; None for an
    installed package, which holds its configuration files inside.
    """
    root = Path(__file__).resolve().parents[2]
    return root if Path(conf_dir()) == root / "conf" else None
