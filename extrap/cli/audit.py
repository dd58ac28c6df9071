"""Measure the properties of positional schemes. All of them are also written to results/audit."""

from argparse import Namespace
from pathlib import Path

from extrap.cli.shared import argument, command
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import told

NAMES = "names of files in conf/scheme; all by default"
ADD = "write the rows of these schemes into the table of results/audit, beside the others"


@command(
    "results plugins conf",
    argument("schemes", metavar="SCHEME", nargs="*", help=NAMES),
    argument("--add", action="store_true", help=ADD),
)
def main(args: Namespace) -> str:
    import torch

    from extrap.audit import zoo
    from extrap.utils.progress import Progress

    torch.set_num_threads(1)  # sums in one order, hence the same digits
    conf = args.config_dir or Path(conf_dir())
    with told(args.plugins):
        schemes = zoo.subjects(args.schemes, conf, args.plugins)
        with Progress("audit") as progress:
            frame = zoo.audit(schemes, progress)
    whole = not args.schemes and conf == Path(conf_dir())
    folder, written = args.results / "audit", []
    if args.add and not whole:
        written = zoo.write(zoo.added(frame, folder), folder)
    elif whole:
        written = zoo.write(frame, folder)
    return "\n".join([zoo.text(frame), *map(str, written)])
