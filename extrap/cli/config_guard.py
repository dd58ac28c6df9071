"""The check of a command line before Hydra runs, and of the configuration that it composes.

Hydra's public API composes the configuration, which runs nothing in it; extrap/cli/config_files.py
checks the files as Hydra reads them.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override
from omegaconf import DictConfig

from extrap.cli.hydra_errors import groups
from extrap.cli.sweep.grid import overrides, selected
from extrap.cli.words import options_of, quoted
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

LISTS = ("task", "experiment")
"""Groups of which a configuration takes several choices."""

OUTSIDE = re.compile(r"\$\{(?!hydra[.:]|now:)")
"""A reference of an option of Hydra to a node that a file may have made."""


def checked(conf: str, words: Sequence[str], config_dir: str | Path | None = None) -> DictConfig:
    """Returns the configuration that `hydra.main` will compose of these words. Raises UserError,
    and what Hydra raises for a configuration that cannot be composed.

    Leaves out values to be swept, as Hydra does for the sweep as a whole. conf, config_dir: the
    folder of the program's configuration files and the user's own. Call it inside `limited`.
    """
    if config_dir is not None and not Path(config_dir).is_dir():
        raise UserError("--config-dir", config_dir, "no such folder")
    parsed = OverridesParser.create().parse_overrides(list(words))
    folders = [str(Path(config_dir).absolute())] if config_dir is not None else []
    for one in parsed:
        check_names(one, conf)
        if one.key_or_group.startswith("hydra") and OUTSIDE.search(str(one.input_line)):
            problem = "an option of Hydra takes no reference to options outside hydra"
            raise UserError(f"{one.input_line}: {problem}; give the value itself")
        if one.key_or_group == "hydra.searchpath" and isinstance(paths := one.value(), list):
            folders += map(str, paths)
    for folder in folders:
        _check_own(Path(folder.removeprefix("file://")))
    single = [str(one.input_line) for one in parsed if not one.is_sweep_override()]
    if folders:
        single.append(f"hydra.searchpath=[{','.join(map(quoted, folders))}]")
    with initialize_config_dir(conf, version_base="1.3"):
        cfg = compose("config", single, return_hydra_config=True)
    _check_hydra(cfg, conf, parsed)
    _check_verbose(cfg.hydra.verbose)
    return cfg


def swept(conf: str, words: Sequence[str], config_dir: str | Path | None = None) -> tuple[str, ...]:
    """Returns where the options begin of groups from which the grids of an experiment choose, as in
    `scheme.`. Raises the errors of `checked` for words that do not fit the first choices of a grid.
    """
    parse = OverridesParser.create().parse_overrides
    of_groups = tuple(f"{group.replace('/', '.')}." for group in groups(conf))
    typed = {one.key_or_group: one for one in parse(list(words))}
    outside = [str(t.input_line) for name, t in typed.items() if not name.startswith(of_groups)]
    found: dict[str, None] = {}
    for grid in overrides(selected(checked(conf, outside, config_dir), "grid")):
        chosen = [one for one in parse(grid) if "." not in one.key_or_group]
        own = [one for one in chosen if one.key_or_group not in typed]
        firsts = [_first(one) for one in own if not isinstance(one.value(), Glob)]
        checked(conf, [*firsts, *words], config_dir)
        found |= dict.fromkeys(map(options_of, own))
    return tuple(found)


def _first(one: Override) -> str:
    """Returns the first value of a word of a grid, as a word."""
    if not one.is_sweep_override():
        return str(one.input_line)
    return f"{one.get_key_element()}={next(one.sweep_string_iterator())}"


def _check_own(folder: Path) -> None:
    """Raises UserError for a file with the name of one of extrap's own, which Hydra would read."""
    for ours in sorted(Path(conf_dir()).glob("*/**/*.yaml")):
        name = ours.relative_to(conf_dir())
        if (folder / name).is_file() and not ours.samefile(folder / name):
            raise UserError(
                f"--config-dir={folder}: {name} has the name of one of extrap's own, which "
                "would be taken in its place; rename it"
            )


def check_names(override: Override, conf: str) -> None:
    """Raises UserError for a word without an option, and for a choice that is no name."""
    group, word, values = override.key_or_group, override.input_line, override.value()
    if not group:
        raise UserError(f"{word}: not of the form option=value; see extrap --help")
    if override.is_delete() or not Path(conf, group).is_dir():
        return
    for value in values.list if isinstance(values, ChoiceSweep) else [values]:
        for name in value if isinstance(value, list) and group in LISTS else [value]:
            if name is None or isinstance(name, int | float | list):
                problem = f"{group} takes the name of a choice"
                raise UserError(f"{word}: {problem}; `extrap --help` lists them")


def _check_verbose(said: Any) -> None:
    """Raises UserError unless `hydra.verbose` is true, false, or names loggers of packages."""
    names = [said] if isinstance(said, str) else [] if isinstance(said, bool) else list(said)
    for name in map(str, names):
        package = name.partition(".")[0]
        if not package.isidentifier() or find_spec(package) is None:
            problem = "neither true nor false, nor the logger of a package that is installed"
            raise UserError("hydra.verbose", name, problem, "give true, or a package: hydra")


def _check_hydra(cfg: DictConfig, conf: str, typed: Sequence[Override]) -> None:
    """Raises UserError if a file chooses one of Hydra's own files, some of which write files."""
    named = {one.key_or_group for one in typed}
    for group, choice in cfg.hydra.runtime.choices.items():
        folder = Path(conf, group)
        if not group.startswith("hydra/") or group in named or not folder.is_dir():
            continue
        own = sorted(path.stem for path in folder.glob("*.yaml"))
        if choice not in own:
            raise UserError(
                f"{group}={choice}: a file chooses this; files may choose {', '.join(own)}, and "
                "the command line any"
            )
