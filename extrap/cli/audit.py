"""Measure the properties of positional schemes. All of them are also written to results/audit."""

from argparse import Namespace
from pathlib import Path

from extrap.cli.shared import argument, command
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import told

NAMES = "names of files in conf/scheme; all by default"


@command(
    "results plugins conf",
    argument("schemes", metavar="SCHEME", nargs="*", help=NAMES),
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
    written = zoo.write(frame, args.results / "audit") if whole else []
    return "\n".join([zoo.text(frame), *map(str, written)])
