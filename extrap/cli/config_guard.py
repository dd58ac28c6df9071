"""What a file of configuration may not do, wherever it came from: name code of other packages, or
write outside this folder.

The command line is the user's word, a file is data. `extrap.runs.build` builds only classes of this
package and of `plugins`; here stands that no file adds to `plugins`, and that none reaches for what
Hydra itself would import, call or write: callbacks, logging, folders, the environment. The same
options are free on the command line.

The configuration is composed once by Hydra's public API, which uses nothing of it, and checked
before Hydra runs; jobs of a sweep are checked as they are read, and each again as it starts.
"""

import os
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString
from omegaconf import DictConfig, OmegaConf

from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

PLUGINS = ("hydra_plugins.", "hydra._internal.core_plugins.")
LOGGING = ("logging.StreamHandler", "logging.NullHandler", "logging.Formatter")
STREAMS = ("ext://sys.stderr", "ext://sys.stdout")
FOLDERS = {"run.dir": r"\.|runs(/.*)?", "sweep.dir": r"runs(/.*)?", "sweep.subdir": ".*"}
EMPTY = ("callbacks", "searchpath", "job.env_set", "job.env_copy", "output_subdir")
SHELL = ("setup", "python", "srun_args", "additional_parameters")
"""Options of a cluster that become lines of a shell script."""

WORD = re.compile(r"[\w.,:%/=+@-]*")
SUBMITIT = "${hydra.sweep.dir}/.submitit/%j"
LOGGER = {"entity": None, "mode": "offline"}
"""Whose account sees a run, and whether it is sent at all."""

REFERENCE = re.compile(r"\$\{(hydra:|now:)?[\w.%:\[\]/-]*\}")
"""An interpolation that reads nothing but the configuration itself and the time."""


folders: list[str] = []
"""Folders of configuration files besides the main one, as the command line names them."""


def check_files(conf: str, args: Namespace) -> None:
    """Composes what `hydra.main` will compose of this command line. Raises UserError for what only
    the command line may say, and what Hydra raises for a configuration that cannot be composed.

    Values to be swept are left out, as Hydra does for the sweep as a whole.
    """
    where = args.config_path or conf
    if not PurePath(where).is_absolute():
        raise UserError(f"--config-path={where}: give an absolute path; --config-dir adds a folder")
    if args.hydra_help or (args.config_dir and not Path(args.config_dir).is_dir()):
        return  # reads no file of ours; Hydra says so
    parsed = OverridesParser.create().parse_overrides(args.overrides)
    for one in parsed:
        _check_names(one)
    single = [str(one.input_line) for one in parsed if not one.is_sweep_override()]
    more = [one.value() for one in parsed if one.key_or_group == "hydra.searchpath"]
    folders[:] = [os.path.abspath(args.config_dir)] if args.config_dir else []
    folders.extend(path for paths in more if isinstance(paths, list) for path in paths)
    for folder in folders:
        _check_own(Path(folder))
    with initialize_config_dir(where, version_base="1.3"):
        cfg = compose(args.config_name or "config", single, return_hydra_config=True)
    check(cfg, single, args.overrides)


def _check_own(folder: Path) -> None:
    """Raises UserError for a choice that has the name of one of ours, which Hydra would take."""
    for ours in sorted(Path(conf_dir()).glob("*/**/*.yaml")):
        name = ours.relative_to(conf_dir())
        if (folder / name).is_file() and not ours.samefile(folder / name):
            raise UserError(
                f"--config-dir={folder}: {name} has the name of one of extrap's own, which "
                "would be taken in its place; rename it"
            )


def _check_names(override: Override) -> None:
    """Raises UserError for a list of choices with something in it that is no name, as Hydra trips
    on it.
    """
    values = override.value()
    for value in values.list if isinstance(values, ChoiceSweep) else [values]:
        lists = isinstance(value, list) and Path(conf_dir(), override.key_or_group).is_dir()
        if lists and not all(isinstance(item, str | QuotedString) for item in value):
            raise UserError(
                f"{override.input_line}: names of files in conf/{override.key_or_group} are "
                f"expected, as extrap --help lists them"
            )


def check(cfg: DictConfig, overrides: Sequence[str], given: Sequence[str] = ()) -> None:
    """Raises UserError for what only the command line may say. Nothing is resolved that the
    configuration does not hold.

    overrides: those that it was composed with; given: all of the command line, where that is more.
    """
    given = given or overrides
    typed = [re.split("[=@]", word.lstrip("+~"))[0].replace("/", ".") for word in given]
    plain = OmegaConf.to_container(cfg, resolve=False)
    assert isinstance(plain, dict)
    node = plain.pop("hydra")
    filled = node["overrides"]["task"] + node["overrides"]["hydra"]
    if sorted(map(str, filled)) != sorted(overrides):
        raise UserError("hydra.overrides: set by a file; only the command line says what was typed")
    if cfg.get("plugins") and "plugins" not in typed:
        raise UserError(
            f"plugins={list(cfg.plugins)}: set by a file; only the command line lets code of "
            "other packages in"
        )
    hidden = [
        path for path in (f"hydra.{path}" for path in _wrong(node)) if not _typed(path, typed)
    ]
    for path in (*hidden, *(path for path in _account(plain) if path not in typed)):
        raise UserError(
            f"{path}: set by a file to what could run code or write elsewhere; only the command "
            "line may do so"
        )
    for path, value in _leaves(plain):
        if "${" in REFERENCE.sub("", str(value)) and not any(str(value) in o for o in given):
            raise UserError(
                f"{path}={value}: a file may refer to options of the configuration and to nothing "
                "else; give it on the command line"
            )


def _typed(option: str, typed: list[str]) -> bool:
    """Whether an option, one that it belongs to or one inside it was typed."""
    return any(
        option == word or option.startswith(f"{word}.") or word.startswith(f"{option}.")
        for word in typed
    )


def _account(plain: dict[str, Any]) -> Iterator[str]:
    """Options of the dashboard that concern the user's account and differ from their defaults."""
    logger = plain.get("logger")
    for name, default in LOGGER.items():
        if isinstance(logger, dict) and logger.get(name, default) != default:
            yield f"logger.{name}"


def _wrong(node: dict[str, Any]) -> Iterator[str]:
    """Paths of what a file may not set, for a node `hydra`."""
    for path in EMPTY:
        if _at(node, path):
            yield path
    for path, allowed in FOLDERS.items():
        where = str(_at(node, path))
        if (
            "${" in where
            or where.startswith("/")
            or ".." in PurePath(where).parts
            or not re.fullmatch(allowed, where)
        ):
            yield path
    launcher = node.get("launcher") or {}
    yield from (f"launcher.{name}" for name in SHELL if launcher.get(name))
    for path, value in _leaves(launcher, "launcher."):
        if isinstance(value, str) and value != SUBMITIT and not _word(value):
            yield path
    if not _word(str(_at(node, "job.name"))):
        yield "job.name"
    if launcher.get("submitit_folder", SUBMITIT) != SUBMITIT:
        yield "launcher.submitit_folder"
    for path, value in _leaves(node):
        *_, name = path.split(".")
        if name == "_target_" and not (
            path in ("launcher._target_", "sweeper._target_") and str(value).startswith(PLUGINS)
        ):
            yield path
        if path.startswith(("job_logging.", "hydra_logging.")) and (
            name == "()"
            or (name == "class" and value not in LOGGING)
            or (str(value).startswith(("ext:", "cfg:")) and value not in STREAMS)
        ):
            yield path
        if re.match(r"sweeper\.params\.(\d+\.)?\W*(hydra|plugins)\b", path):
            yield path


def _word(text: str) -> bool:
    """Whether a text stays one word of a shell script."""
    return WORD.fullmatch(REFERENCE.sub("", text)) is not None


def _at(node: Any, path: str) -> Any:
    for name in path.split("."):
        node = node.get(name) if isinstance(node, dict) else None
    return node


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of everything below a node; a dot inside a name counts as one of the path."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for name, value in items:
        yield f"{path}{name}", value
        yield from _leaves(value, f"{path}{name}.")
