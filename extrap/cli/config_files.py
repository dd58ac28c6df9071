"""A source of configuration files that checks each file (utils/untrusted.py) before Hydra reads it.

Not in the plug-in that registers it: a job that submitit starts unpickles the sources before
plug-ins are found.
"""

import os
from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.plugins.config_source import ConfigResult

from extrap.utils.untrusted import check_yaml


class CheckedFiles(FileConfigSource):
    @staticmethod
    def scheme() -> str:
        return "checked"

    def load_config(self, config_path: str) -> ConfigResult:
        """Raises UserError for a file that holds too much."""
        path = Path(os.path.join(self.path, self._normalize_file_name(config_path)))
        if path.is_file():
            check_yaml(path)
        return super().load_config(config_path)
