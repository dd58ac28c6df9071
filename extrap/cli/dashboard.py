"""`extrap-dashboard STUDY`: shows a study in W&B from the rows on this disk, whenever and wherever
they were made.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from extrap.cli import report
from extrap.cli.arguments import named_plugins, parser
from extrap.cli.exits import reported
from extrap.figures import available
from extrap.results import rows
from extrap.runs.dashboard import WandB, library, workspace
from extrap.runs.dashboard.page import Page
from extrap.runs.dashboard.reason import reason
from extrap.runs.folder import read_json
from extrap.runs.layout import CURVE, RESULTS
from extrap.runs.study import Entry, entries
from extrap.utils import files as atomic
from extrap.utils.errors import UserError


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser(
        "extrap-dashboard",
        "Show a study in Weights & Biases from its rows.",
        study="required",
        plugins=True,
    )
    command.add_argument(
        "--online",
        action="store_true",
        help="send it now; otherwise it is written below ./wandb for `wandb sync`",
    )
    command.add_argument(
        "--workspace",
        action="store_true",
        help="also build the workspace: saved online, written as JSON offline",
    )
    command.add_argument("--project", default="extrap", help="W&B project (default: extrap)")
    command.add_argument("--entity", help="W&B user or team (default: the one the key belongs to)")
    command.add_argument(
        "--figures", action="store_true", help="draw figures of each run, too (a second or two)"
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        if not args.project:
            raise UserError("--project", "", "needs a name")
        board = WandB(args.project, args.entity, "online" if args.online else "offline")
        plugins = named_plugins(args)
        available(plugins=plugins)  # a mistake in one of theirs comes before any page
        records = show(board, args.study, args.figures, plugins)
        if args.workspace:
            with taken():
                print(_workspace(board, args.study, records))


def show(
    board: WandB, study: str, figures: bool = False, plugins: Sequence[str] = ()
) -> list[dict]:
    """A page for each job that has rows, then one for the study with its figures and the page of
    extrap-report, figures apart, as a panel; returns all rows.
    figures: on every page; plugins: packages with figures of their own.

    Raises UserError without rows, and where W&B takes no page. A figure or panel that fails is left
    out, with a warning for the first.
    """
    extra = Extra()
    found: dict[Path, list[dict]] = {}
    for entry in entries(study):
        tasks = sorted(entry.tasks, key=lambda task: task != CURVE)  # W&B takes steps in order only
        files = {task: file for task in tasks if (file := entry.file(task).rows).exists()}
        own = {task: rows.records([file]) for task, file in files.items()}
        if not any(own.values()):
            continue
        first = next(row for some in own.values() for row in some)
        with taken():
            board.start(_page(entry, first, list(own)), resume=None)
            for task, some in own.items():
                board.log(task, some)
            if figures:
                extra(board.draw, list(files.values()), plugins)
            board.finish()
        print(f"{entry.run} {entry.extension}: {sum(map(len, own.values()))} rows")
        found |= {files[task]: some for task, some in own.items()}
    if not found:
        raise UserError(
            "STUDY", study, "no rows yet", f"`extrap-status {study}` tells what is left to run"
        )
    records = [row for some in found.values() for row in some]
    text = report.text(RESULTS, study, images=False)
    with taken():
        board.start(_summary(study, records), resume=None)
        extra(board.draw_rows, rows.frame(records), plugins)
        extra(board.page, text)
        board.finish()
    return records


@contextmanager
def taken() -> Iterator[None]:
    """Inside, what W&B refuses is told as a mistake, in one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # of a library that is not ours, in any way it likes
        raise UserError(
            "W&B",
            problem=reason(error),
            remedy="the rows are unchanged; extrap-report shows them without W&B",
        ) from None


class Extra:
    """Calls what a page can do without; one warning, however often it fails."""

    def __init__(self) -> None:
        self.warned = False

    def __call__(self, call: Callable[..., None], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:  # no memory for an image, a library that draws none
            if not self.warned:
                self.warned = True
                print(
                    f"extrap-dashboard: {reason(error)}; figures or panels are left out",
                    file=sys.stderr,
                )


def _page(entry: Entry, row: dict, tasks: list[str]) -> Page:
    """As the job itself makes it, as far as the rows know."""
    options = read_json(entry.folder.folder / "config.json").get("identity") or {}
    names = entry.study, entry.run, entry.extension, row["scheme"], row["data"]
    return Page(
        *names,
        row["seed"],
        row["train_length"],
        tuple(task for task in tasks if task != CURVE),
        options,
    )


def _summary(study: str, records: list[dict]) -> Page:
    schemes, lengths = ({row[name] for row in records} for name in ("scheme", "train_length"))
    return Page(
        study,
        f"study-{study}",
        "direct",
        ", ".join(sorted(schemes)),
        "all",
        0,
        min(lengths),
        (),
        job_type="study",
    )


def _workspace(board: WandB, study: str, records: list[dict]) -> str:
    """Where the workspace is: its address, or the file with its specification."""
    if board.mode == "offline":
        path = Path("wandb") / f"workspace-{study}.json"
        built = workspace.build(study, board.project, board.entity or "", records)
        content = json.dumps(workspace.specification(built), indent=1, sort_keys=True)
        atomic.replace(path, content.encode())
        return str(path)
    entity = board.entity or library.wandb().Api().default_entity
    return str(workspace.build(study, board.project, entity, records).save().url)


if __name__ == "__main__":
    main()
