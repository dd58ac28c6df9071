"""Write a study as one page of HTML, from its rows alone.

The page needs no network and has less than 2 MB; the same rows are the same bytes. With --cost the
page also tells what the runs of this machine cost.
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from extrap.cli import spent
from extrap.cli.experiments import commands
from extrap.cli.shared import argument, command, need_studies
from extrap.cli.table import differences
from extrap.figures.drawing.part import Chosen
from extrap.figures.report.html_page import page
from extrap.results.findings.statement import FILE
from extrap.results.findings.verdict import findings
from extrap.results.places import place
from extrap.results.rows import open_study, studies
from extrap.results.together import together
from extrap.utils import atomic
from extrap.utils.atomic import check_links
from extrap.utils.errors import UserError

NAME = "report.html"


def text(
    results: Path,
    names: Sequence[str],
    images: bool = True,
    plugins: Sequence[str] = (),
    cost: bool = False,
    series: Sequence[str] = (),
) -> str:
    """Returns the page of studies by name, or of files of rows. Raises UserError for an unknown
    one, and for rows that cannot be compared. cost: with what the run folders here say of it;
    series: names of the series to show, by default all.
    """
    rows = Chosen(tuple(series)).of_study(together(results, names))
    found, made, costs = [], [], []
    for name in known(results, names):
        folder = place(results, name)
        if (folder / FILE).is_file():
            found += findings(folder, open_study(results, name))
        made += commands(name)
        costs += spent.lines(name) if cost else []
    head = ("run", *spent.COLUMNS) if costs else ()
    return page(rows, found, images, plugins, made, notes=differences(rows), costs=[head, *costs])


def known(results: Path, names: Sequence[str]) -> list[str]:
    """Returns the names that are studies: the others are files of rows."""
    return [name for name in names if name in studies(results)]


OUTPUT = f"output file (default: {NAME} in the folder of the study; needed for files of rows alone)"


@command(
    "studies results plugins",
    argument("--output", type=Path, metavar="FILE", help=OUTPUT),
    argument("--cost", action="store_true", help="add what each run cost, by its run folder here"),
)
def main(args: Namespace) -> str:
    names = need_studies(args)
    if args.output is not None and args.output.exists() and not args.output.is_file():
        raise UserError("--output", args.output, "not a file", "give the name of one")
    content = text(args.results, names, plugins=args.plugins, cost=args.cost)
    here = known(args.results, names)
    if args.output is None and not here:
        raise UserError("--output", problem="missing", remedy="name the file of the page")
    more = "-".join(Path(name).stem for name in names[1:])
    name = f"report-{more}.html" if more else NAME
    path = args.output or place(args.results, here[0]) / name
    if args.output is None:
        check_links(path.parent)
    try:
        atomic.replace(path, content.encode())
    except FileNotFoundError as error:  # /proc, which takes no new files
        raise UserError("--output", path, error.strerror, "give another file") from None
    return str(path)
