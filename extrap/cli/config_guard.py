"""What a file of configuration may not do, wherever it came from: name code of other packages, or write outside this folder.

The command line is the user's word, a file is data. `extrap.runs.build` builds only classes of this package and of `plugins`; here stands
that no file adds to `plugins`, and that none reaches for what Hydra itself would import, call or write: callbacks, logging, folders,
the environment. The same options are free on the command line.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import hydra._internal.hydra
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from omegaconf import DictConfig, OmegaConf

from extrap.utils.errors import UserError

PLUGINS = ("hydra_plugins.", "hydra._internal.core_plugins.")
LOGGING = ("logging.StreamHandler", "logging.NullHandler", "logging.Formatter")
STREAMS = ("ext://sys.stderr", "ext://sys.stdout")
FOLDERS = {"run.dir": r"\.|runs(/.*)?", "sweep.dir": r"runs(/.*)?", "sweep.subdir": ".*"}
EMPTY = ("callbacks", "searchpath", "job.env_set", "job.env_copy", "output_subdir")


def guard() -> None:
    """From now on Hydra composes no configuration that breaks these rules: it raises UserError before anything of it is used."""
    hydra._internal.hydra.ConfigLoaderImpl = Guarded  # type: ignore[misc]


class Guarded(ConfigLoaderImpl):
    def load_configuration(self, config_name: str | None, overrides: list[str], *args: Any, **options: Any) -> DictConfig:
        cfg = super().load_configuration(config_name, overrides, *args, **options)
        if config_name is not None:  # None: `--hydra-help`, which reads no file of ours
            check(cfg, overrides)
        return cfg


def check(cfg: DictConfig, overrides: list[str]) -> None:
    """Raises UserError for what only the command line, `overrides`, may say. Nothing is resolved that the configuration does not hold."""
    said = [re.split("[=@]", word.lstrip("+~"))[0].replace("/", ".") for word in overrides]
    hydra_node = OmegaConf.to_container(cfg.hydra, resolve=False)
    if cfg.get("plugins") and "plugins" not in said:
        raise UserError(f"plugins={list(cfg.plugins)}: set by a file; only the command line lets code of other packages in")
    for path in _wrong(hydra_node):
        option = f"hydra.{path}"
        if not any(option == word or option.startswith(f"{word}.") or word.startswith(f"{option}.") for word in said):
            raise UserError(f"{option}: set by a file to what could run code or write elsewhere; only the command line may do so")


def _wrong(node: dict[str, Any]) -> Iterator[str]:
    """Paths of what a file may not set, for a node `hydra`."""
    for path in EMPTY:
        if _at(node, path):
            yield path
    for path, allowed in FOLDERS.items():
        where = str(_at(node, path))
        if "${" in where or where.startswith("/") or ".." in PurePath(where).parts or not re.fullmatch(allowed, where):
            yield path
    for path, value in _leaves(node):
        *_, name = path.split(".")
        if name == "_target_" and not (path in ("launcher._target_", "sweeper._target_") and str(value).startswith(PLUGINS)):
            yield path
        if path.startswith(("job_logging.", "hydra_logging.")) and (
            name == "()" or (name == "class" and value not in LOGGING) or (str(value).startswith(("ext:", "cfg:")) and value not in STREAMS)
        ):
            yield path
        if re.match(r"sweeper\.params\.(\d+\.)?\W*(hydra|plugins)\b", path):
            yield path


def _at(node: Any, path: str) -> Any:
    for name in path.split("."):
        node = node.get(name) if isinstance(node, dict) else None
    return node


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of everything below a node; a dot inside a name counts as one of the path."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in items:
        yield f"{path}{name}", value
        yield from _leaves(value, f"{path}{name}.")
