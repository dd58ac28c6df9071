"""`extrap-audit [SCHEME ...]`: what positional schemes do, measured and not claimed; `--demo NAME`:
the classic demonstrations.
"""

import argparse
import inspect
import sys
from pathlib import Path

from extrap.utils.errors import UserError


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser(
        "extrap-audit",
        description=(
            "Measure the properties of positional schemes. All of them are also written to "
            "results/audit."
        ),
    )
    parser.add_argument(
        "schemes", metavar="SCHEME", nargs="*", help="names of files in conf/scheme; all by default"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder of results (default: results)",
    )
    parser.add_argument(
        "--demo",
        metavar="NAME",
        nargs="?",
        const="list",
        help="show a demonstration instead; without a name, list them",
    )
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="a folder below runs: the demonstration speaks of that trained model",
    )
    asked = parser.parse_args(argv)
    try:
        if asked.demo is not None and asked.schemes:
            raise UserError(f"--demo {asked.demo}: takes no schemes; ask for either")
        if asked.demo is None and asked.run is not None:
            raise UserError(
                f"--run {asked.run}: goes with --demo NAME; a scheme is audited untrained"
            )
        print(
            audited(asked.schemes, asked.results)
            if asked.demo is None
            else demo(asked.demo, asked.run)
        )
    except UserError as error:
        print(f"extrap-audit: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def audited(names: list[str], results: Path) -> str:
    """The table; that of all schemes is written as well."""
    import torch

    from extrap.audit import table, zoo
    from extrap.utils.progress import Progress

    torch.set_num_threads(1)  # sums in one order, hence the same digits
    schemes = zoo.subjects(names)
    with Progress("audit") as progress:
        frame = zoo.audit(schemes, progress)
    written = [] if names else table.write(frame, zoo.columns(), results / "audit")
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
        raise UserError(f"--demo {name}: no such demonstration; choose one of {', '.join(known)}")
    if "run" in inspect.signature(known[name].show).parameters:
        return known[name].show(run)
    if run is not None:
        raise UserError(f"--run {run}: the demonstration {name} speaks of no trained model")
    return known[name].show()


if __name__ == "__main__":
    main()
