"""List every positional scheme."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from extrap.audit import catalogue
from extrap.cli import reference
from extrap.cli.shared import argument, command
from extrap.utils.paths import conf_dir

WRITE = "write the tables of schemes, extensions and tasks into the READMEs of that folder, and "
WRITE += "without --config-dir those of all options into conf/README.md"


@command(
    "plugins conf",
    argument("--write", action="store_true", help=WRITE),
)
def main(args: Namespace) -> Any:
    folder = args.config_dir or Path(conf_dir())
    if args.write:
        written = catalogue.write(folder, args.plugins)
        return written if args.config_dir else [reference.write(), *written]
    frame = catalogue.table("scheme", folder, args.plugins).drop(columns="source")
    return frame.to_string(index=False, max_colwidth=50)
