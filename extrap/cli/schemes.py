"""`extrap schemes`: every scheme of conf/scheme in one table; with --write, the READMEs of conf."""

from extrap.audit import catalogue
from extrap.cli.shared import config_folder, named_plugins, parser, reported


def main(argv: list[str] | None = None) -> None:
    """Runs the command. A mistake is one line on stderr and exit code 2."""
    command = parser("extrap schemes", "List every positional scheme.", plugins=True, conf=True)
    command.add_argument(
        "--write",
        action="store_true",
        help="write the tables of schemes, extensions and tasks into the READMEs of that folder",
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        folder, plugins = config_folder(args), named_plugins(args)
        if args.write:
            for path in catalogue.write(folder, plugins):
                print(path)
        else:
            frame = catalogue.table("scheme", folder, plugins).drop(columns="source")
            print(frame.to_string(index=False, max_colwidth=50))
