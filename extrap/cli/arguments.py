"""The parser that the small commands share: the study, `--results` and `--json` are said once."""

import argparse
from pathlib import Path
from typing import Literal

from extrap.cli.exits import EXITS, end
from extrap.results.rows import studies
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import check_plugins


def parser(
    program: str,
    description: str,
    study: Literal["required", "optional"] | None = None,
    results: bool = False,
    json: bool = False,
    plugins: bool = False,
    conf: bool = False,
) -> argparse.ArgumentParser:
    """A parser with what a command shares with others, to which it adds what is its own.

    study: whether it takes STUDY; results: whether `--results DIR`, the folder of the studies;
    json: whether `--json`; plugins: whether `--plugins NAMES`; conf: whether
    `--config-dir DIR`.
    """
    made = argparse.ArgumentParser(program, description=description, epilog=EXITS)
    made.parse_args = made.parse_intermixed_args  # type: ignore[method-assign]  # options anywhere
    made.error = lambda message: end(program, f"{message}; see {program} --help", 2)  # type: ignore[method-assign,assignment]
    if study is not None:
        made.add_argument(
            "study",
            metavar="STUDY",
            nargs=None if study == "required" else "?",
            help="name of a study, a folder in results; `extrap-status` lists those with runs",
        )
    if results:
        made.add_argument(
            "--results",
            type=Path,
            default=Path("results"),
            metavar="DIR",
            help="folder of the studies (default: results)",
        )
    if json:
        made.add_argument("--json", action="store_true", help="print one JSON object instead")
    if plugins:
        made.add_argument(
            "--plugins",
            metavar="NAMES",
            default="",
            help="packages of your own that count as well, as in plugins=[...]; commas between",
        )
    if conf:
        made.add_argument(
            "--config-dir",
            type=Path,
            metavar="DIR",
            help="a folder of your own with groups such as scheme, in place of conf",
        )
    return made


def config_folder(args: argparse.Namespace) -> Path:
    """The folder of `--config-dir`, or that of this package. Raises UserError where there is
    none.
    """
    if args.config_dir is not None and not args.config_dir.is_dir():
        raise UserError("--config-dir", args.config_dir, "no such folder")
    return args.config_dir or Path(conf_dir())


def named_plugins(args: argparse.Namespace) -> list[str]:
    """The packages of `--plugins`, found from the working folder, too. Raises UserError for what
    cannot be the name of one.
    """
    return check_plugins(args.plugins.split(",") if args.plugins else [])


def need_study(args: argparse.Namespace) -> str:
    """The study that was named. Raises UserError, which lists those there are, where none was."""
    if args.study is None:
        known = ", ".join(studies(args.results)) or "none yet"
        raise UserError("STUDY", problem="missing", remedy=f"studies in {args.results}: {known}")
    return args.study
