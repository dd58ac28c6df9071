"""`extrap-report STUDY`: the study as one page of HTML, from its rows alone.

Leaderboard, curves, heat-maps, findings and figures in one file below 2 MB that needs no network;
the same rows are the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

from omegaconf import OmegaConf

from extrap.cli.arguments import named_plugins, need_study, parser
from extrap.cli.exits import reported
from extrap.figures.report.page import page
from extrap.results.findings.statement import FILE
from extrap.results.findings.verdict import findings
from extrap.results.rows import open_study
from extrap.utils import files as atomic
from extrap.utils.errors import UserError
from extrap.utils.files import check_links
from extrap.utils.paths import conf_dir

NAME = "report.html"


def text(results: Path, study: str, images: bool = True, plugins: Sequence[str] = ()) -> str:
    """The page of a study by name. Raises UserError for an unknown one and for mixed corpora."""
    rows = open_study(results, study)
    declared = (results / study / FILE).is_file()
    found = findings(results / study, rows) if declared else ()
    return page(rows, found, images, plugins, experiments(study))


def experiments(study: str) -> list[str]:
    """Names of the experiments in conf/ that write rows of the study."""
    folder = Path(conf_dir()) / "experiment"
    files = {p.relative_to(folder).with_suffix("").as_posix(): p for p in folder.rglob("*.yaml")}
    own = {name: OmegaConf.load(path).get("study") for name, path in files.items()}
    return sorted(name for name in own if own[name] == study)


def main(argv: list[str] | None = None) -> None:
    """The command. Prints the file; a mistake is one line on stderr and exit code 2."""
    command = parser(
        "extrap-report",
        "Write a study as one page of HTML, from its rows alone.",
        study="optional",
        results=True,
        plugins=True,
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"where it is written (default: {NAME} in the folder of the study)",
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        study = need_study(args)
        if args.output is not None and args.output.exists() and not args.output.is_file():
            raise UserError(f"--output={args.output}: not a file; give the name of one")
        content = text(args.results, study, plugins=named_plugins(args))
        path = args.output or args.results / study / NAME
        if args.output is None:
            check_links(args.results / study)
        atomic.replace(path, content.encode())
        print(path)


if __name__ == "__main__":
    main()
