"""`extrap-audit [SCHEME ...]`: what positional schemes do, measured and not claimed; `--demo NAME`:
the classic demonstrations.
"""

import inspect
from pathlib import Path

from extrap.cli.arguments import config_folder, named_plugins, parser
from extrap.cli.exits import reported
from extrap.utils.errors import UserError, choose
from extrap.utils.paths import conf_dir


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser(
        "extrap-audit",
        "Measure the properties of positional schemes. All of them are also written to "
        "results/audit.",
        results=True,
        plugins=True,
        conf=True,
    )
    command.add_argument(
        "schemes", metavar="SCHEME", nargs="*", help="names of files in conf/scheme; all by default"
    )
    command.add_argument(
        "--demo",
        metavar="NAME",
        nargs="?",
        const="list",
        help="show a demonstration instead; without a name, list them",
    )
    command.add_argument(
        "--run",
        metavar="RUN",
        help="a folder below runs: the demonstration speaks of that trained model",
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        if args.demo is not None and args.schemes:
            raise UserError(
                "--demo", args.demo, "takes no schemes", "give either a demonstration or schemes"
            )
        if args.demo is None and args.run is not None:
            raise UserError(
                "--run", args.run, "goes with --demo NAME", "a scheme is audited untrained"
            )
        print(
            audited(args.schemes, args.results, config_folder(args), named_plugins(args))
            if args.demo is None
            else demo(args.demo, args.run)
        )


def audited(names: list[str], results: Path, conf: Path, plugins: list[str]) -> str:
    """The table; that of all schemes of ours is written as well."""
    import torch

    from extrap.audit import table, zoo
    from extrap.utils.progress import Progress

    torch.set_num_threads(1)  # sums in one order, hence the same digits
    schemes = zoo.subjects(names, conf, plugins)
    with Progress("audit") as progress:
        frame = zoo.audit(schemes, progress)
    whole = not names and conf == Path(conf_dir())
    written = table.write(frame, zoo.columns(), results / "audit") if whole else []
    return "\n".join([table.text(frame, zoo.columns()), *map(str, written)])


def demo(name: str, run: str | None) -> str:
    """What a demonstration shows. Raises UserError for one that does not exist and for a run it has
    no use for.
    """
    from extrap.audit import demos

    known = demos.available()
    if name == "list":
        return "\n".join(
            f"{n:{max(map(len, known))}}  {demos.caption(module)}" for n, module in known.items()
        )
    if name not in known:
        raise UserError("--demo", name, "no such demonstration", choose(name, known))
    if "run" in inspect.signature(known[name].show).parameters:
        return known[name].show(run)
    if run is not None:
        raise UserError("--run", run, f"the demonstration {name} takes no trained model")
    return known[name].show()


if __name__ == "__main__":
    main()
