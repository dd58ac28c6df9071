"""List every positional scheme."""

from argparse import Namespace
from typing import Any

from extrap.audit import catalogue
from extrap.cli.shared import argument, command, config_folder, named_plugins

WRITE = "write the tables of schemes, extensions and tasks into the READMEs of that folder"


@command(
    "plugins conf",
    argument("--write", action="store_true", help=WRITE),
)
def main(args: Namespace) -> Any:
    folder, plugins = config_folder(args), named_plugins(args)
    if args.write:
        return catalogue.write(folder, plugins)
    frame = catalogue.table("scheme", folder, plugins).drop(columns="source")
    return frame.to_string(index=False, max_colwidth=50)
