"""Run a study or go on with it: its experiments, then its figures, table, page and findings.

A study and its parts (folders in it with rows) follow each other. Finished rows are never made
again. An experiment that leaves an option to you is named and skipped. `--dry-run` prints the
commands alone.
"""

import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from extrap.cli.experiments import experiments, lacking
from extrap.cli.shared import argument, command
from extrap.results.places import has_rows, place
from extrap.utils.errors import UserError

ONLY_PRINT = argument("--dry-run", action="store_true", help="print the commands, run none")


@command("study", ONLY_PRINT)
def main(args: Namespace) -> None:
    for words in commands(args.study):
        if left := _left_to_you(words):
            print(f"extrap study: {left}", file=sys.stderr, flush=True)
            continue
        print("+ extrap", shlex.join(words), file=sys.stderr, flush=True)
        if args.dry_run:
            continue
        done = subprocess.run([sys.executable, "-P", "-m", "extrap", *words], check=False)
        if done.returncode:
            raise SystemExit(done.returncode)


def _left_to_you(words: list[str]) -> str:
    """Returns why the experiment of a command needs more words, "" if it needs none."""
    name = words[0].removeprefix("experiment=")
    missing = lacking(name) if name != words[0] else []
    if not missing:
        return ""
    given = " ".join(f"{option}=..." for option in missing)
    return f"{name} is skipped; extrap experiment={name} {given} runs it"


def commands(study: str) -> list[list[str]]:
    """Returns the words of each command. Raises UserError for a study without experiments."""
    whole = place(Path("results"), study)
    parts = [folder for folder in sorted(whole.glob("*")) if has_rows(folder)]
    found = [*chain.from_iterable(map(_commands, [whole, *parts]))]
    if not found:
        problem = "no experiment makes this study"
        raise UserError("STUDY", study, problem, f"write `study: {study}` into an experiment")
    return found


def _commands(folder: Path) -> Iterator[list[str]]:
    study = folder.name
    made = experiments(study)
    for name in made:
        yield [f"experiment={name}"]
    if figures := sorted(path.stem for path in folder.glob("figures/*.svg")):
        yield ["plot", study, *figures]
    if made:
        yield ["table", study]
    if (folder / "findings.yaml").is_file():
        yield ["findings", study]
    if (folder / "figures.yaml").is_file():  # the page of the gallery
        yield ["findings", "--write"]
    if (folder / "report.html").is_file():
        yield ["report", study]
