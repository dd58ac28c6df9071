"""Files of configuration are read through the source `checked` (extrap.cli.config_files)."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

from extrap.cli.config_files import CheckedFiles
from extrap.cli.config_guard import folders

__all__ = ["CheckedFiles", "CheckedFolders"]  # Hydra finds both here


class CheckedFolders(SearchPathPlugin):
    """The main folder and those of the command line, which stand before what Hydra makes of
    `--config-dir` and `hydra.searchpath`: the first folder that has a file is the one it is read
    from.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for element in search_path.get_path():
            if element.provider == "main":
                element.path = _checked(element.path)
        for folder in folders:
            search_path.append(provider="checked", path=_checked(folder))


def _checked(folder: str) -> str:
    path = folder.removeprefix("file://")
    return path if "://" in path else f"checked://{path}"
