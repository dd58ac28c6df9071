"""Files of configuration as Hydra reads them, and the limits of what they reach.

The command line is the user's word, a file is data. Inside `limited` Hydra checks each file twice:
its size and nesting where Hydra reads it (extrap/utils/untrusted.py), and its options where Hydra
merges them, so that no header, group or default leads around the check. There, files have no
reference beyond the configuration. Outside, another program of Hydra in this process reads its own
files as Hydra does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

import yaml
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra.core.default_element import ResultDefault
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf
from omegaconf.basecontainer import BaseContainer

from extrap.cli.config_budget import counted
from extrap.cli.sweep.grid import COMMAND_LINE_ONLY, NAMES, check_name
from extrap.utils.errors import UserError
from extrap.utils.untrusted import LOADER, MALFORMED, check_yaml, malformed, read_text

OWN = "main"
"""Hydra's name for the program's folder; no option of the command line chooses another one."""

HYDRA = ("pkg://hydra.conf", "structured://")
"""Sources of Hydra, of its plug-ins and of the program's schema."""

RESOLVERS = {"hydra", "now"}
"""References that reach beyond options: to the program's name and to the time."""

NO_OPTIONS = "holds no options; a file is of lines as in `seed: 1`"

_read, _merge = ConfigRepository.load_config, ConfigLoaderImpl._load_single_config


def _checked_read(repository: ConfigRepository, config_path: str) -> ConfigResult | None:
    """Reads a file. Raises UserError for a file that is no YAML, too large or too deep, for a path
    that leads out of the folders of configuration files, and for a task that puts its options under
    another name.
    """
    if normpath(config_path).startswith("..") or config_path.startswith("/"):
        problem = "leads out of the folder of configuration files"
        raise UserError("defaults", config_path, problem, "put the file into it")
    source, path, text = repository._find_object_source(config_path, ObjectType.CONFIG), Path(), ""
    if source is not None and source.scheme() == "file":
        text = check_yaml(path := Path(source.path, source._normalize_file_name(config_path)))
    try:
        found = _read(repository, config_path)
    except MALFORMED as error:
        raise malformed(error, path, text) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise UserError(path, problem=NO_OPTIONS) from None  # OmegaConf's, for a number or a set
    if found is not None and not isinstance(found.config, DictConfig):
        raise UserError(path, problem=NO_OPTIONS)
    group, _, task = config_path.removesuffix(".yaml").partition("/")
    place = found.header.get("package") if found is not None else None
    if found and group == "task" and "_target_" in found.config and place != f"task.{task}":
        problem = f"its file puts its options at {place or 'task'}"
        remedy = f"write `# @package task.{task}` in its first line"
        raise UserError("task", task, problem, remedy)
    return found


def _checked_merge(loader: ConfigLoaderImpl, default: ResultDefault, repo: Any) -> ConfigResult:
    """Loads a file and puts its options at its package, as Hydra does. Raises UserError if a file
    holds an option that only the command line may set (`COMMAND_LINE_ONLY`), or as a name a number
    of another spelling than its file's: 7 is a name, 1e3 would be 1000.0.

    Exempt are the program's and Hydra's files, each at the package that its folder names: a foreign
    file may choose them, but put none elsewhere.
    """
    found = _merge(loader, default, repo)
    path = str(default.config_path)
    natural = ".".join(PurePosixPath(path).parent.parts)
    ours = found.path in HYDRA or found.provider == OWN
    file = f"{found.path.partition('://')[2]}/{path.removesuffix('.yaml')}.yaml"
    content: Any = found.config._value()
    for option in NAMES if isinstance(content, dict) else ():
        if (node := content.get(option)) is not None:
            value = node._value()
            number = type(value) in (int, float) and found.path.startswith("file://")
            if number and str(value) == _spelled(Path(file), option):
                node._set_value(str(value))
            check_name(f"{file}: {option}", node._value())
    if not (ours and (default.package or "") in (natural, natural.partition(".")[0])):
        for option in COMMAND_LINE_ONLY:
            if _sets(found.config, option):
                raise UserError(
                    f"{file}: sets {option}; only extrap and the command line may set it"
                )
    return found


def _spelled(file: Path, option: str) -> str | None:
    """Returns a value of the top level of a file as it is written there, None without one."""
    root = yaml.compose(read_text(file), Loader=LOADER)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return next((value.value for name, value in pairs if name.value == option), None)


def _sets(node: Any, option: str) -> bool:
    """True if a configuration holds an option, or a reference in place of a node above it."""
    for name in option.split("."):
        if not isinstance(node, DictConfig) or node._is_none() or node._is_missing():
            return node is not None and bool(node._is_interpolation())
        if node._is_interpolation():
            return True
        node = node._get_node(name)
    return node is not None


@contextmanager
def limited() -> Iterator[None]:
    """Inside, Hydra checks files, and no reference reads the environment or makes nodes: OmegaConf
    knows no resolver but `RESOLVERS`. References spend the budget of one configuration where
    nothing narrower counts.
    """
    before = dict(BaseContainer._resolvers)
    outside = ConfigRepository.load_config, ConfigLoaderImpl._load_single_config
    for name in before.keys() - RESOLVERS:
        OmegaConf.clear_resolver(name)
    _checks(_checked_read, _checked_merge)
    try:
        with counted():
            yield
    finally:
        _checks(*outside)
        BaseContainer._resolvers.update(before)


def _checks(read: Any, merge: Any) -> None:
    ConfigRepository.load_config = read  # type: ignore[method-assign]
    ConfigLoaderImpl._load_single_config = merge  # type: ignore[method-assign]
