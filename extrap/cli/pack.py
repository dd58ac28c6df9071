"""Pack the rows of a study into one file, results/STUDY/rows.parquet, which git keeps.

Two people packed the same study: `git show theirs:results/STUDY/rows.parquet > theirs.parquet`,
then `extrap pack STUDY --add theirs.parquet`. A file in rows/ replaces the packed rows of its name;
a line names such files.
"""

from argparse import Namespace
from pathlib import Path

from extrap.cli.shared import argument, command, say_hidden
from extrap.results import packing
from extrap.results import rows as table

ADD = argument("--add", type=Path, nargs="+", action="extend", default=[], metavar="FILE",
               help="more packed files of this study, of another branch or person")  # fmt: skip


@command("study results", ADD)
def main(args: Namespace) -> str:
    study = table.folder(args.results, args.study)
    say_hidden("extrap pack", [study])
    return f"{study / 'rows.parquet'}: {packing.pack(study, args.add)} rows"
