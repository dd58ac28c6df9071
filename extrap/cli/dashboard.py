"""Show a study in Weights & Biases from its rows."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from extrap.cli import report
from extrap.cli.part import SERIES, words
from extrap.cli.shared import argument, command
from extrap.figures import available
from extrap.results.findings import markdown_pages
from extrap.results.places import place
from extrap.results.rows import studies
from extrap.runs.dashboard import Mode, WandB, library, workspace
from extrap.runs.dashboard.library import reason
from extrap.runs.dashboard.series_table import COLUMNS
from extrap.runs.dashboard.study import DRAWN, Study, read
from extrap.runs.dashboard.trackio import Trackio
from extrap.runs.layout import RESULTS
from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.untrusted import PAGE, read_text

FLAGS = {
    "--online": "send it now; otherwise it is written below ./wandb for `wandb sync`",
    "--workspace": "also build the workspace: saved online, written as JSON offline",
    "--report": "also write a W&B Report with question, findings and charts",
    "--trackio": "show it in trackio on this machine instead, without an account",
    "--share": "with --online --report: let anyone who has the link read it",
}
MORE = "more studies on the same page (files of rows: extrap report, table and plot take them)"


@command(
    "study plugins",
    argument("more", metavar="STUDY", nargs="*", help=MORE),
    argument("--series", type=words, default=(), metavar="NAMES", help=SERIES),
    *(argument(flag, action="store_true", help=says) for flag, says in FLAGS.items()),
    argument("--project", default="extrap", help="W&B project (default: extrap)"),
    argument("--entity", help="W&B user or team (default: the one the key belongs to)"),
)
def main(args: Namespace) -> Iterator[str]:
    for name in (args.study, *args.more):
        if name not in studies(RESULTS) and Path(name).exists():
            remedy = "extrap report, table and plot take files of rows"
            raise UserError("STUDY", name, f"no study of {RESULTS}", remedy)
    if not args.project:
        raise UserError("--project", "", "needs a name")
    if args.share and not (args.online and args.report):
        raise UserError("--share", problem="needs --online and --report")
    if args.workspace or args.report:
        workspace.modules()
    if args.trackio and (args.online or args.workspace or args.report):
        problem = "takes no --online, --workspace and --report, which are of W&B"
        raise UserError("--trackio", problem=problem)
    mode: Mode = "online" if args.online else "offline"
    local = Trackio(args.project) if args.trackio else None
    board = local or WandB(args.project, args.entity, mode)
    board.library()  # where it is missing, before any page
    available(plugins=args.plugins)  # a mistake in one of theirs comes before any page
    study = read(args.study, *args.more, series=args.series)
    show(board, study, args.plugins, args.series)
    with taken():
        yield from _built(board, study, args.workspace, args.report, args.share)
    if local is not None:
        yield local.opens


def show(
    board: WandB, study: Study, plugins: Sequence[str] = (), series: Sequence[str] = ()
) -> None:
    """A page for each job that has rows, then one for the study with the table of its lines, its
    figures and the page of extrap report, figures apart, as a panel.
    plugins: packages with figures of their own; series: the names that the study was read with.

    Raises UserError where W&B takes no page. A figure or panel that fails is left out, with a
    warning for the first.
    """
    extra = Extra()
    for page, own in study.pages:
        with taken():
            board.start(page, resume=None)
            for task, some in own.items():
                board.log(task, some)
            board.finish()
        print(f"{page.run} {page.extension}: {sum(map(len, own.values()))} rows")
    text = report.text(RESULTS, study.names, images=False, series=series)
    with taken():
        board.start(study.page, resume=None)
        board.table(workspace.TABLE, COLUMNS, study.table)
        if len(study.series) <= DRAWN:
            extra(board.figures, study.rows, plugins)
        else:
            print(f"no figures of more than {DRAWN} series; `extrap plot {study.name}` draws them")
        extra(board.page, text)
        board.finish()


@contextmanager
def taken() -> Iterator[None]:
    """Inside, an error of W&B becomes a mistake in one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # of a library that is not ours, in any way it likes
        remedy = "the rows are unchanged; extrap report shows them without W&B"
        raise UserError("W&B", problem=reason(error), remedy=remedy) from None


class Extra:
    """Calls functions that add optional parts of a page; warns once, however often they fail."""

    def __init__(self) -> None:
        self.warned = False

    def __call__(self, call: Callable[..., None], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:  # no memory for an image, a library that draws none
            if not self.warned:
                self.warned = True
                why = f"extrap dashboard: {reason(error)}"
                print(f"{why}; figures or panels are left out", file=sys.stderr)


def _built(board: WandB, study: Study, space: bool, story: bool, share: bool) -> Iterator[str]:
    """Yields the addresses of the workspace and the report, or their files."""
    online = board.mode == "online"
    entity = board.entity or ""
    if online and (space or story):
        api, extra = library.wandb(online).Api(), Extra()
        entity = entity or api.default_entity
        for name, spec in workspace.charts().items():  # a server that refuses one may have it
            title = f"extrap {name.split('-')[1]}"
            extra(api.create_custom_chart, entity, name, title, "vega2", "private", spec)
    if space:
        built = workspace.workspace(study, board.project, entity)
        yield str(built.save().url) if online else _written(f"workspace-{study.name}", built)
    if story:
        known = study.name in markdown_pages.declared(RESULTS)
        part = (
            markdown_pages.part(study.name, markdown_pages.judged(RESULTS, study.name))
            if known
            else ""
        )
        built = workspace.report(study, board.project, entity, _question(study), part)
        yield str(built.save().url) if online else _written(f"report-{study.name}", built)
        if share:
            yield built.enable_share_link()


def _question(study: Study) -> str:
    """Returns question and answer of the page of a study, or a question for any study."""
    page = place(RESULTS, study.name) / "README.md"
    text = read_text(page, PAGE) if page.is_file() else ""
    paragraph = r"^\*\*(?:Question|Answer):\*\* .*\n(?:[^<\n].*\n)*"
    paragraphs = re.findall(paragraph, f"{text}\n", re.MULTILINE)
    said = [" ".join(words.split()) for words in paragraphs]
    question = f"How far do the {len(study.series)} series of {study.name} read?"
    return "\n\n".join(said) or question


def _written(name: str, built: Any) -> str:
    """Writes a workspace or a report as JSON below ./wandb and returns the file."""
    path = Path("wandb") / f"{name}.json"
    content = workspace.specification(built)
    atomic.replace(path, json.dumps(content, indent=1, sort_keys=True).encode())
    return str(path)
