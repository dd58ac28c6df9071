"""Pack the rows of a study into one file, results/STUDY/rows.parquet, which git keeps.

Two people packed the same study: `git show theirs:results/STUDY/rows.parquet > theirs.parquet`,
then `extrap pack STUDY --add theirs.parquet`. A file in rows/ replaces the packed rows of its name;
a line names such files. Scores of items are packed and merged the same way, in items.parquet.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from extrap.cli.shared import argument, command, say_hidden
from extrap.results import packing, packing_items
from extrap.results import rows as table
from extrap.results.places import PACKED, PACKED_ITEMS

ITEMS = (
    "also pack the scores of single documents and trials, items/*.csv, into items.parquet; not "
    "needed once the study has this file"
)
FILES: dict = {"type": Path, "nargs": "+", "action": "extend", "default": [], "metavar": "FILE"}
ADD = argument("--add", **FILES, help="more rows.parquet of it, of another branch or person")
ADD_ITEMS = argument("--add-items", **FILES, help="likewise, more items.parquet of this study")


@command("study results", ADD, argument("--items", action="store_true", help=ITEMS), ADD_ITEMS)
def main(args: Namespace) -> Iterator[str]:
    study = table.folder(args.results, args.study)
    say_hidden("extrap pack", [study])
    yield f"{study / PACKED}: {packing.pack(study, args.add)} rows"
    items = study / PACKED_ITEMS
    if args.items or args.add_items or items.is_file():
        yield f"{items}: {packing_items.pack(study, args.add_items)} scores of items"
