"""`extrap thin STUDY`: removes the rows of a study that its `left_out.yaml` names, so that the
committed rows stay few. A run writes all of them again.
"""

from extrap.cli.shared import parser, reported
from extrap.results import left_out
from extrap.results import rows as table
from extrap.utils.errors import UserError


def main(argv: list[str] | None = None) -> None:
    """Runs the command. A mistake is one line, exit code 2, and changes no file."""
    command = parser(
        "extrap thin",
        "Remove the rows of a study that its left_out.yaml names, before they are committed.",
        study="required",
        results=True,
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        study = table.folder(args.results, args.study)
        if not left_out.rules(study):
            raise UserError(
                study / left_out.FILE,
                problem="holds no rules",
                remedy="write which rows are left out, as in `- {metric: [restricted, format]}`",
            )
        table.read(study)
        print(f"{args.study}: {left_out.thin(study)} rows left out")
