"""Write a study as one page of HTML, from its rows alone.

The page needs no network and has less than 2 MB; the same rows are the same bytes.
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from extrap.cli.experiments import commands
from extrap.cli.shared import argument, command, need_study
from extrap.cli.table import differences
from extrap.figures.report.page import page
from extrap.results.findings.statement import FILE
from extrap.results.findings.verdict import findings
from extrap.results.places import place
from extrap.results.rows import open_study
from extrap.utils import files as atomic
from extrap.utils.errors import UserError
from extrap.utils.files import check_links

NAME = "report.html"


def text(results: Path, study: str, images: bool = True, plugins: Sequence[str] = ()) -> str:
    """The page of a study by name. Raises UserError for an unknown one and for mixed corpora."""
    rows = open_study(results, study)
    folder = place(results, study)
    found = findings(folder, rows) if (folder / FILE).is_file() else ()
    return page(rows, found, images, plugins, commands(study), notes=differences(rows))


OUTPUT = f"output file (default: {NAME} in the folder of the study)"


@command(
    "study? results plugins",
    argument("--output", type=Path, metavar="FILE", help=OUTPUT),
)
def main(args: Namespace) -> str:
    study = need_study(args)
    if args.output is not None and args.output.exists() and not args.output.is_file():
        raise UserError("--output", args.output, "not a file", "give the name of one")
    content = text(args.results, study, plugins=args.plugins)
    folder = place(args.results, study)
    path = args.output or folder / NAME
    if args.output is None:
        check_links(folder)
    try:
        atomic.replace(path, content.encode())
    except FileNotFoundError as error:  # /proc, which takes no new files
        raise UserError("--output", path, error.strerror, "give another file") from None
    return str(path)
