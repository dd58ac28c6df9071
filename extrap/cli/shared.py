"""Arguments of commands, errors as lines with an exit code, values as JSON."""

import argparse
import errno
import json
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from extrap.utils import progress, streams
from extrap.utils.docs import docstring
from extrap.utils.errors import UserError, disk_fault, printable
from extrap.utils.plugins import check_plugins

EXITS = (
    "Exit codes: 0 done; 2 a mistake, in lines on stderr; 130 interrupted; 141 the reader of "
    "a pipe stopped."
)


def argument(*names: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Returns an argument of a command, in the words of `ArgumentParser.add_argument`."""
    return names, options


def config_folder(text: str) -> Path:
    """Returns a folder of configuration files. Raises UserError for one that does not exist."""
    if not Path(text).is_dir():
        raise UserError("--config-dir", text, "no such folder")
    return Path(text)


def packages(text: str) -> list[str]:
    """Returns packages, which may lie in the working folder. Raises UserError for a text that
    cannot name a package.
    """
    return check_plugins(text.split(",") if text else [])


STUDY = "name of a study, a folder in results; `extrap status` lists those with runs"
COMMON = {
    "study": argument("study", metavar="STUDY", help=STUDY),
    "study?": argument("study", metavar="STUDY", nargs="?", help=STUDY),
    "studies": argument("studies", metavar="STUDY", nargs="*", help=f"{STUDY}; also a file or a "
                        "folder with rows of others, and several of all of these"),
    "words": argument("words", metavar="OPTION=VALUE", nargs="*", help="choices and options of one "
                      "configuration, as `extrap --help` lists them"),
    "results": argument("--results", type=Path, default=Path("results"), metavar="DIR",
                        help="folder of the studies (default: results)"),
    "json": argument("--json", action="store_true", help="print one JSON object instead"),
    "plugins": argument("--plugins", type=packages, default=[], metavar="NAMES", help="your own "
                        "packages, as in plugins=[...], separated by commas"),
    "conf": argument("--config-dir", type=config_folder, metavar="DIR",
                     help="a folder of your own with groups such as scheme"),
}  # fmt: skip
"""Arguments that commands share."""

Run = Callable[[argparse.Namespace], Any]
Main = Callable[..., None]


def command(common: str, *own: Any) -> Callable[[Run], Main]:
    """Makes a function of arguments the `main(argv)` of a command. Its module gives the name, and
    the first paragraph of its docstring for --help.

    Args:
        common: names of COMMON
        own: more arguments

    main prints the text that the function returns, or each line that it yields; a mistake is one
    line on stderr and exit code 2.
    """

    def made(run: Run) -> Main:
        program = f"extrap {run.__module__.rpartition('.')[2].replace('_', '-')}"
        says = docstring(sys.modules[run.__module__]).partition("\n\n")[0]

        def main(argv: list[str] | None = None) -> None:
            parser = argparse.ArgumentParser(program, description=says, epilog=EXITS)
            parser.error = lambda message: _end(program, f"{message}; see {program} --help", 2)  # type: ignore[method-assign,assignment]
            for names, options in (*(COMMON[name] for name in common.split()), *own):
                parser.add_argument(*names, **options)
            with reported(program):
                told = run(parser.parse_intermixed_args(argv))  # options anywhere
                for line in [told] if isinstance(told, str) else told or ():
                    print(line)

        return main

    return made


def need_study(args: argparse.Namespace) -> str:
    """Returns the named study. Raises UserError, which lists the studies, without a name."""
    if args.study is None:
        from extrap.results.rows import studies  # imports pandas

        known = ", ".join(studies(args.results)) or "none yet"
        raise UserError("STUDY", problem="missing", remedy=f"studies in {args.results}: {known}")
    return args.study


def need_studies(args: argparse.Namespace) -> list[str]:
    """Returns the named studies. Raises UserError, which lists the studies, without any."""
    if not args.studies:
        need_study(argparse.Namespace(study=None, results=args.results))
    return args.studies


def say_hidden(program: str, studies: Iterable[Path]) -> None:
    """Prints a line on stderr for each study of which loose sheets hide packed ones."""
    from extrap.results.sheets import hidden

    for line in filter(None, map(hidden, studies)):
        print(f"{program}: {line}", file=sys.stderr)


def advise() -> None:
    """Shows warnings as advice for people, not for programmers: a line each, once."""
    said = set[str]()

    def line(message: Warning | str, *place: Any, **more: Any) -> str:
        text = f"extrap: {message}\n"
        new = text not in said  # Python forgets what it said once whenever a filter changes
        said.add(text)
        return text if new else ""

    warnings.formatwarning = line
    warnings.filterwarnings("once", category=UserWarning, module="extrap")


INTERRUPTED = "interrupted; the same command continues"


@contextmanager
def reported(program: str = "extrap") -> Iterator[None]:
    """Turns an exception into lines on stderr that begin with the name of the program, and into an
    exit code.

    If the reader of what the program prints has gone, the program ends without a message, as
    `head` expects. The context flushes the output before it ends.
    """
    streams.settle()
    try:
        try:
            yield
        except SystemExit:  # so ends Hydra, after what it prints
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except UserError as error:
        _end(program, str(error), 2)
    except KeyboardInterrupt:
        _end(program, INTERRUPTED, 130)
    except SystemExit as stop:
        # Lightning answers Ctrl-C by ending with exit code 1 from inside its handler.
        if stop.code == 1 and isinstance(stop.__context__, KeyboardInterrupt):
            _end(program, INTERRUPTED, 130)
        raise
    except Exception as error:
        if isinstance(error, OSError) and (error.errno == errno.EPIPE or error.filename is None):
            streams.silence()  # Python must not meet the fault once more when it ends
            if error.errno == errno.EPIPE:
                raise SystemExit(141) from None
        if (line := disk_fault(error)) is not None:
            _end(program, line, 2)
        traceback.print_exc()
        progress.end("failed", traceback.format_exception_only(error)[-1].strip())
        raise SystemExit(1) from None


def _end(program: str, text: str, code: int) -> NoReturn:
    progress.end("failed", text)
    with suppress(OSError):  # stderr may lie on the disk that is full
        for line in text.split("\n"):  # other ends of lines are shown as they are written
            print(f"{program}: {printable(line)}", file=sys.stderr)
    raise SystemExit(code) from None


def as_json(values: dict) -> str:
    """Returns values of `plain` as one JSON object."""
    return json.dumps(values, indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """Returns a number, text, mapping or named tuple as JSON has it: null for nan, "inf"."""
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{value:g}"
    return value
