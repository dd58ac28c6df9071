"""What the command line may say of Hydra, looked at before Hydra runs.

The command line is the user's word, a file is data: extrap/cli/config_files.py checks the files as
Hydra reads them. The configuration is composed once by Hydra's public API, which runs nothing that
it holds.
"""

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override
from omegaconf import DictConfig

from extrap.cli import references
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

LISTS = ("task", "experiment")
"""Groups of which a configuration takes several choices."""

folders: list[str] = []
"""Folders of configuration files besides the program's, as the command line names them."""


def checked(conf: str, args: Namespace) -> DictConfig | None:
    """Returns what `hydra.main` will compose of this command line, None where Hydra reads no file
    of ours. Raises UserError for what only extrap itself may say, and what Hydra raises for a
    configuration that cannot be composed.

    Values to be swept are left out, as Hydra does for the sweep as a whole.
    """
    for flag, given in (("path", args.config_path), ("name", args.config_name)):
        if given is not None:
            raise UserError(
                f"--config-{flag}={given}: extrap starts from its own config.yaml; put choices "
                "and experiments in a folder and give --config-dir"
            )
    if args.hydra_help or (args.config_dir and not Path(args.config_dir).is_dir()):
        return None  # Hydra says so
    parsed = OverridesParser.create().parse_overrides(args.overrides)
    for one in parsed:
        _check_names(one, conf)
        if one.key_or_group.startswith("hydra"):
            references.check_typed(one.key_or_group, one.value())
    more = [one.value() for one in parsed if one.key_or_group == "hydra.searchpath"]
    folders[:] = [os.path.abspath(args.config_dir)] if args.config_dir else []
    folders.extend(path for paths in more if isinstance(paths, list) for path in paths)
    for folder in folders:
        _check_own(Path(folder))
    single = [str(one.input_line) for one in parsed if not one.is_sweep_override()]
    with initialize_config_dir(conf, version_base="1.3"):
        cfg = compose("config", single, return_hydra_config=True)
    _check_hydra(cfg, conf, parsed)
    return cfg


def _check_own(folder: Path) -> None:
    """Raises UserError for a choice that has the name of one of ours, which Hydra would take."""
    for ours in sorted(Path(conf_dir()).glob("*/**/*.yaml")):
        name = ours.relative_to(conf_dir())
        if (folder / name).is_file() and not ours.samefile(folder / name):
            raise UserError(
                f"--config-dir={folder}: {name} has the name of one of extrap's own, which "
                "would be taken in its place; rename it"
            )


def _check_names(override: Override, conf: str) -> None:
    """Raises UserError for a word without an option, and for a group given something other than
    names of files: one, or a list where the configuration takes several.
    """
    group, word, values = override.key_or_group, override.input_line, override.value()
    if not group:
        raise UserError(f"{word}: not of the form option=value; see extrap --help")
    if override.is_delete() or not Path(conf, group).is_dir():
        return
    for value in values.list if isinstance(values, ChoiceSweep) else [values]:
        for name in value if isinstance(value, list) and group in LISTS else [value]:
            if name is None or isinstance(name, int | float | list):
                raise UserError(
                    f"{word}: {group} takes the name of a choice; `extrap --help` lists them"
                )


def _check_hydra(cfg: DictConfig, conf: str, typed: Sequence[Override]) -> None:
    """Raises UserError for a choice of a group of Hydra that no one typed and that is not among the
    program's own: some of Hydra's write files.
    """
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
