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
    with told(args.plugins):
        conf = args.config_dir or Path(conf_dir())
        return audited(args.schemes, args.results, conf, args.plugins)


def audited(names: list[str], results: Path, conf: Path, plugins: list[str]) -> str:
    """Returns the table, and writes it for all schemes of extrap."""
    import torch

    from extrap.audit import zoo
    from extrap.utils.progress import Progress

    torch.set_num_threads(1)  # sums in one order, hence the same digits
    schemes = zoo.subjects(names, conf, plugins)
    with Progress("audit") as progress:
        frame = zoo.audit(schemes, progress)
    whole = not names and conf == Path(conf_dir())
    written = zoo.write(frame, results / "audit") if whole else []
    return "\n".join([zoo.text(frame), *map(str, written)])
