"""The parser that the small commands share: the study, `--results` and `--json` are said once."""

import argparse
from pathlib import Path
from typing import Literal

from extrap.cli.exits import EXITS
from extrap.results.rows import studies
from extrap.utils.errors import UserError


def parser(
    program: str,
    description: str,
    study: Literal["required", "optional"] | None = None,
    results: bool = False,
    json: bool = False,
) -> argparse.ArgumentParser:
    """A parser with what a command shares with others, to which it adds what is its own.

    study: whether it takes STUDY; results: whether `--results DIR`, the folder of the studies;
    json: whether `--json`.
    """
    made = argparse.ArgumentParser(program, description=description, epilog=EXITS)
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
    return made


def need_study(args: argparse.Namespace) -> str:
    """The study that was named. Raises UserError, which lists those there are, where none was."""
    if args.study is None:
        known = ", ".join(studies(args.results)) or "none yet"
        raise UserError(f"STUDY is missing; studies in {args.results}: {known}")
    return args.study
