"""The experiments of conf/experiment that make a study."""

from pathlib import Path

from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def experiments(study: str) -> list[str]:
    """Returns the names of the experiments that write rows of a study."""
    folder = Path(conf_dir()) / "experiment"
    own = [path for path in folder.rglob("*.yaml") if read_yaml(path).get("study") == study]
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in own)
