"""The experiments of conf/experiment that make a study."""

from pathlib import Path

from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def experiments(study: str) -> list[str]:
    """Returns the names of the experiments that write rows of a study."""
    folder = Path(conf_dir()) / "experiment"
    files = {p.relative_to(folder).with_suffix("").as_posix(): p for p in folder.rglob("*.yaml")}
    own = {name: read_yaml(path).get("study") for name, path in files.items()}
    return sorted(name for name in own if own[name] == study)
