"""`extrap-thin STUDY`: the rows of a study without those that its `left_out.yaml` names, so that
what is committed stays small. A run writes all of them again.
"""

from extrap.cli.arguments import parser
from extrap.cli.exits import reported
from extrap.results import left_out
from extrap.results import rows as table
from extrap.utils.errors import UserError


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2; then no file is changed."""
    command = parser(
        "extrap-thin",
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


if __name__ == "__main__":
    main()
