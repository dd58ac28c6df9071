"""`extrap-dashboard STUDY`: shows a study in W&B from the rows on this disk, whenever and wherever
they were made.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from extrap.cli import report
from extrap.cli.arguments import named_plugins, parser
from extrap.cli.exits import reported
from extrap.results import rows
from extrap.runs.dashboard import WandB, workspace
from extrap.runs.dashboard.page import Page
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
    args = command.parse_args(argv)
    with reported(command.prog):
        board = WandB(args.project, args.entity, "online" if args.online else "offline")
        records = show(board, args.study, named_plugins(args))
        if args.workspace:
            print(_workspace(board, args.study, records))


def show(board: WandB, study: str, plugins: Sequence[str] = ()) -> list[dict]:
    """A page for each job that has rows, then one for the study with its figures and the page of
    extrap-report, figures apart, as a panel; returns all rows.
    plugins: packages with figures of their own. Raises UserError without rows.
    """
    found: dict[Path, list[dict]] = {}
    for entry in entries(study):
        tasks = sorted(entry.tasks, key=lambda task: task != CURVE)  # W&B takes steps in order only
        files = {task: file for task in tasks if (file := entry.file(task).rows).exists()}
        own = {task: rows.records([file]) for task, file in files.items()}
        if not any(own.values()):
            continue
        board.start(
            _page(entry, next(row for some in own.values() for row in some), list(own)), resume=None
        )
        for task, some in own.items():
            board.log(task, some)
        board.draw(list(files.values()), plugins)
        board.finish()
        print(f"{entry.run} {entry.extension}: {sum(map(len, own.values()))} rows")
        found |= {files[task]: some for task, some in own.items()}
    if not found:
        raise UserError(
            f"STUDY={study}: no rows yet; `extrap-status {study}` tells what is left to run"
        )
    records = [row for some in found.values() for row in some]
    board.start(_summary(study, records), resume=None)
    board.draw(sorted(found), plugins)
    board.page(report.text(RESULTS, study, images=False))
    board.finish()
    return records


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
    import wandb

    return str(
        workspace.build(study, board.project, board.entity or wandb.Api().default_entity, records)
        .save()
        .url
    )


if __name__ == "__main__":
    main()
