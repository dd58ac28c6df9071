"""Files of configuration, looked at before they are read (extrap.cli.yaml_guard), as a source that
Hydra is given in place of its own.
"""

import os
from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin

from extrap.cli import yaml_guard
from extrap.cli.config_guard import folders


class CheckedFiles(FileConfigSource):
    @staticmethod
    def scheme() -> str:
        return "checked"

    def load_config(self, config_path: str) -> ConfigResult:
        """Raises UserError for a file that holds too much."""
        path = Path(os.path.join(self.path, self._normalize_file_name(config_path)))
        if path.is_file():
            yaml_guard.check(path)
        return super().load_config(config_path)


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
