"""Remove the rows of a study that its left_out.yaml names, before they are committed."""

from argparse import Namespace

from extrap.cli.shared import command
from extrap.results import left_out
from extrap.results import rows as table
from extrap.utils.errors import UserError


@command("study results")
def main(args: Namespace) -> str:
    study = table.folder(args.results, args.study)
    if not left_out.rules(study):
        remedy = "write which rows are left out, as in `- {metric: [restricted, format]}`"
        raise UserError(study / left_out.FILE, problem="holds no rules", remedy=remedy)
    table.read(study)
    return f"{args.study}: {left_out.thin(study)} rows left out"
