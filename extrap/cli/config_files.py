"""Files of configuration as Hydra reads them, each checked as it is read.

No file outside the program's own folder sets an option of the command line alone
(`COMMAND_LINE_ONLY`), wherever its package puts it. The check looks at a file's options where
Hydra merges them, so that no header, group or default leads around it. References in files are
checked in extrap/cli/references.py, the size of files in extrap/utils/untrusted.py.

Not in the plug-in that registers the source: a job that submitit starts unpickles the sources
before plug-ins are found.
"""

import os
from pathlib import Path, PurePosixPath
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.default_element import ResultDefault
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig

from extrap.cli import references
from extrap.cli.sweep.grid import COMMAND_LINE_ONLY
from extrap.utils.errors import UserError
from extrap.utils.untrusted import check_yaml

OWN = "main"
"""What Hydra calls the program's folder; no option of the command line chooses another one."""

HYDRA = ("pkg://hydra.conf", "structured://")
"""Sources of Hydra, of its plug-ins and of the program's schema."""


class CheckedFiles(FileConfigSource):
    @staticmethod
    def scheme() -> str:
        return "checked"

    def load_config(self, config_path: str) -> ConfigResult:
        """Raises UserError for a file that holds too much, and for a reference of a foreign file
        beyond its own configuration.
        """
        path = Path(os.path.join(self.path, self._normalize_file_name(config_path)))
        if path.is_file():
            check_yaml(path)
        found = super().load_config(config_path)
        if self.provider != OWN:
            references.check(found.config, path)
        return found


def _load_single_config(loader: ConfigLoaderImpl, default: ResultDefault, repo: Any) -> Any:
    """Loads a file and puts its options at its package, as Hydra does. Raises UserError where a
    file holds an option of the command line alone.

    Exempt are the program's and Hydra's files, each at the package that its folder names: a foreign
    file may choose them, but put none elsewhere.
    """
    found = _hydras(loader, default, repo)
    path = str(default.config_path)
    natural = ".".join(PurePosixPath(path).parent.parts)
    ours = found.path in HYDRA or found.provider == OWN
    if not (ours and (default.package or "") in (natural, natural.partition(".")[0])):
        for option in COMMAND_LINE_ONLY:
            if _sets(found.config, option):
                file = f"{found.path.partition('://')[2]}/{path.removesuffix('.yaml')}.yaml"
                raise UserError(
                    f"{file}: sets {option}; only extrap and the command line may set it"
                )
    return found


_hydras = ConfigLoaderImpl._load_single_config
ConfigLoaderImpl._load_single_config = _load_single_config  # type: ignore[method-assign]


def _sets(node: Any, option: str) -> bool:
    """True if a configuration holds an option, or a reference in place of a node above it."""
    for name in option.split("."):
        if not isinstance(node, DictConfig) or node._is_none() or node._is_missing():
            return node is not None and bool(node._is_interpolation())
        if node._is_interpolation():
            return True
        node = node._get_node(name)
    return node is not None
