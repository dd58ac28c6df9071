"""The frame around a Hydra program: configuration files found from anywhere, mistakes told in one
line, sweeps as processes.

Exit codes: 0 done; 1 a bug (with its traceback) or a failed job of a sweep; 2 a mistake in what was
asked for, or a disk that takes nothing; 130 interrupted; 141 the reader of a pipe stopped.
"""

import os
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import hydra
from hydra._internal.utils import get_args_parser
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from extrap.cli import config_guard, help
from extrap.cli.composed import Composed, plain
from extrap.cli.hydra_errors import explain, misplaced
from extrap.cli.shared import end, gone
from extrap.cli.sweep import names
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.join import join
from extrap.cli.words import SWEEPING, readable
from extrap.runs.study import Entry
from extrap.utils import progress, streams
from extrap.utils.errors import UserError, disk_fault
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import told


class Work(Protocol):
    """What a program does for one configuration.

    finished  whether nothing is left to do: nothing is checked then, and a sweep starts no process
              for that job
    check     raises UserError for what cannot work; called before any work, in a sweep for every
              job before the first
    entry     how the study of the job knows it; None: nothing is kept
    run       does the work
    """

    def finished(self) -> bool: ...

    def check(self) -> None: ...

    def entry(self, command: str) -> Entry | None: ...

    def run(self) -> None: ...


MOST_THREADS = 1024


@dataclass(frozen=True)
class Program:
    """What `main` runs, for one configuration or for each of a sweep.

    prepare   from the configuration of a job to its work; imports torch itself, so that `--help`
              need not
    command   words behind `python -m` that start the program, as they start each job of a sweep
    conf      folder of the configuration files; `config.yaml` in it is the primary one
    head      what `--help` begins with
    """

    prepare: Callable[[Composed], Work]
    command: tuple[str, ...] = ("extrap",)
    conf: str = field(default_factory=conf_dir)
    head: str = help.HEAD

    def __call__(self, cfg: DictConfig) -> None:
        # Read by torch and numpy when they are first imported, which is after this. `threads` is an
        # option of every program framed so.
        if 1 <= cfg.threads <= MOST_THREADS:  # anything else is refused, in words of ours
            os.environ["OMP_NUM_THREADS"] = str(cfg.threads)
        with reported():
            composed = self.read(cfg)
            with told(map(str, composed.values.get("plugins") or ())):
                work = self.prepare(composed)
                if not work.finished():
                    work.check()
                work.run()

    def read(self, cfg: DictConfig) -> Composed:
        """Returns a configuration as plain values, as `whole` does."""
        return whole(cfg, self.conf)


def find_plugins() -> None:
    """Puts the launchers of extrap where Hydra looks for plug-ins."""
    if (folder := str(Path(__file__).parent / "_plugins")) not in sys.path:
        sys.path.append(folder)


def whole(cfg: DictConfig, conf: str) -> Composed:
    """Returns a configuration as plain values. Raises UserError for a value that is missing, cannot
    be resolved or is put where a group's choice belongs. conf: the folder of configuration files.
    """
    try:
        composed = plain(cfg)
    except OmegaConfBaseException as error:
        raise UserError(explain(error, [], conf)) from None
    if line := misplaced(composed.overrides, composed.choices):
        raise UserError(line)
    return composed


def main(program: Program) -> None:
    """Parses the command line and runs `program`, once or as a sweep; ends the process only if
    something went wrong.
    """
    os.environ["HYDRA_FULL_ERROR"] = (
        "1"  # Hydra then hands its errors on instead of printing them over many lines
    )
    find_plugins()
    join()
    warnings.formatwarning = lambda message, *place, **more: (
        f"extrap: {message}\n"
    )  # advice for people, not for programmers
    warnings.filterwarnings("once", category=UserWarning, module="extrap")
    overrides: list[str] = []
    with reported(lambda error: explain(error, overrides, program.conf)):
        names.TYPED[:] = sys.argv
        sys.argv = [sys.argv[0], *readable(sys.argv[1:])]
        args = _parsed()
        if args.experimental_rerun is not None:
            raise UserError(
                f"--experimental-rerun={args.experimental_rerun}: would run code out of a file; "
                "`extrap status` prints the commands of a study"
            )
        overrides += args.overrides
        if args.help:
            print(help.text(program.head, [program.conf, *_own(args)]))
            return
        if _sweeps(config_guard.checked(program.conf, args), args):
            sys.argv.insert(1, SWEEPING[0])
        hydra.main(version_base="1.3", config_path=program.conf, config_name="config")(program)()


@contextmanager
def reported(line: Callable[[Exception], str | None] = lambda error: None) -> Iterator[None]:
    """Turns exceptions into words on stderr and an exit code; `line` may say that one is a user's
    mistake and how to put it.
    """
    streams.settle()
    try:
        yield
        sys.stdout.flush()
    except UserError as error:
        _end(2, str(error))
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as end:
        # Lightning answers Ctrl-C by ending with exit code 1 from inside its handler.
        if end.code == 1 and isinstance(end.__context__, KeyboardInterrupt):
            _interrupted()
        raise
    except Exception as error:
        if isinstance(error, OSError):
            gone(error)
        if (known := disk_fault(error) or line(error)) is not None:
            _end(2, known)
        traceback.print_exc()
        progress.failed(traceback.format_exception_only(error)[-1].strip())
        raise SystemExit(1) from None


def _end(code: int, text: str) -> None:
    progress.failed(text)
    end("extrap", text, code)


def _interrupted() -> None:
    _end(130, "interrupted; the same command continues")


def _parsed() -> Namespace:
    """The command line as Hydra reads it, `option=value` words as `overrides`. Raises UserError for
    a flag that does not exist.
    """

    def error(message: str) -> None:
        raise UserError(f"{message}; see extrap --help")

    parser = get_args_parser()
    parser.error = error  # type: ignore[assignment, method-assign]
    return parser.parse_args()


def _sweeps(cfg: DictConfig | None, args: Namespace) -> bool:
    """True if the configuration holds a grid and the command line asks for nothing else."""
    asked = args.run or args.multirun or args.cfg or args.info or args.shell_completion
    typed = any(word.lstrip("+").startswith("hydra.mode=") for word in args.overrides)
    return bool(cfg and not asked and not typed and selected(cfg, "grid"))


def _own(args: Namespace) -> list[str]:
    return [args.config_dir] if args.config_dir else []
