"""List every positional scheme."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from extrap.audit import catalogue
from extrap.cli.shared import argument, command
from extrap.utils.paths import conf_dir

WRITE = "write the tables of schemes, extensions and tasks into the READMEs of that folder"


@command(
    "plugins conf",
    argument("--write", action="store_true", help=WRITE),
)
def main(args: Namespace) -> Any:
    folder = args.config_dir or Path(conf_dir())
    if args.write:
        return catalogue.write(folder, args.plugins)
    frame = catalogue.table("scheme", folder, args.plugins).drop(columns="source")
    return frame.to_string(index=False, max_colwidth=50)
