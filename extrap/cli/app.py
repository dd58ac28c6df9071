"""The frame around a Hydra program: finds its configuration files, prints a mistake as one line,
and runs each job of a sweep as a process.
"""

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

import hydra
from hydra._internal.utils import get_args_parser
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from extrap import __version__
from extrap.cli import completion, config_guard
from extrap.cli.apart import find_plugins
from extrap.cli.composed import Composed, plain
from extrap.cli.config_files import limited
from extrap.cli.hydra_errors import explained
from extrap.cli.shared import advise, reported
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.process import join
from extrap.cli.sweep.shard import FLAG, Shard, taken
from extrap.cli.words import SWEEPING, readable, within
from extrap.runs.study import Entry
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import told


class Work(Protocol):
    """The work of a program for one configuration.

    finished  returns True if nothing is left to do: a sweep then neither checks nor starts the job
    check     raises UserError for a mistake; called before any work, in a sweep for every job
              before the first
    entry     returns the place of the job in its study
    run_of    returns the name of the run under another seed; None if another seed changes more of
              the job than the name of its run
    run       does the work
    """

    def finished(self) -> bool: ...

    def check(self) -> None: ...

    def entry(self, command: str) -> Entry: ...

    def run_of(self, seed: int) -> str | None: ...

    def run(self) -> None: ...


MOST_THREADS = 1024


@dataclass(frozen=True)
class Program:
    """The program that `main` runs, for one configuration or for each of a sweep.

    prepare   makes the work of a configuration; imports torch itself, so that `--help` need not
    command   words behind `python -m` that start the program and each job of a sweep
    conf      folder of the configuration files; `config.yaml` in it is the primary one
    typed     the command as a person typed it; `main` sets it
    lists     True: a sweep prints its jobs and runs none
    shard     the part of a sweep that this process runs; None: all
    """

    prepare: Callable[[Composed], Work]
    command: tuple[str, ...] = ("extrap",)
    conf: str = field(default_factory=conf_dir)
    typed: str = ""
    lists: bool = False
    shard: Shard | None = None

    def __call__(self, cfg: DictConfig) -> None:
        # torch and numpy read it when they are first imported, which is after this.
        if 1 <= cfg.threads <= MOST_THREADS:  # the check rejects other numbers
            os.environ["OMP_NUM_THREADS"] = str(cfg.threads)
        with reported():
            with explained([], self.conf):
                composed = plain(cfg)
            with told(map(str, composed.values.get("plugins") or ())):
                work = self.prepare(composed)
                if not work.finished():
                    work.check()
                work.run()


LAUNCHER, HERE = "hydra/launcher", "local"
"""The option that says where a sweep runs, and the launcher of this machine."""

SINGLE = ("this command is a single job", "sweep with -m, or leave it out")

REFUSED = ("config_path", "config_name", "experimental_rerun")
"""Flags of Hydra that extrap does not take: the last runs code out of a file."""


def main(program: Program, given: Sequence[str] | None = None) -> None:
    """Runs `program` on the words of a command line, once or as a sweep; ends the process only if
    something went wrong. given: the words; None: those behind the name of this process.
    """
    # Hydra then hands its errors on instead of printing them over many lines
    os.environ["HYDRA_FULL_ERROR"] = "1"
    find_plugins()
    join()
    advise()
    overrides: list[str] = []
    with reported(), explained(overrides, program.conf), limited():
        typed, shard = taken(sys.argv[1:] if given is None else given)
        program = replace(program, typed=shlex.join(["extrap", *typed]), shard=shard)
        words = readable(typed)
        args = _parsed(words)
        overrides += args.overrides
        if args.shell_completion:
            with _words("extrap", words):
                return completion.complete(overrides, lambda: _hydra(program))
        if not args.hydra_help:
            cfg, groups = _checked(program.conf, args)
            words = within(words, groups)
            if _lists(args):
                program = replace(program, lists=True)
                folder = [] if args.config_dir is None else ["--config-dir", args.config_dir]
                words = [SWEEPING[0], *folder, *within(overrides, groups)]
            elif _mode_is_open(args) and selected(cfg, "grid"):
                words = [SWEEPING[0], *words]
            elif shard and not (args.multirun or args.cfg):
                raise UserError(FLAG, f"{shard.index}/{shard.of}", *SINGLE)
            elif _mode_is_open(args):
                _check_launcher(overrides)
        with _words(sys.argv[0], words):
            _hydra(program)


def _checked(conf: str, args: Namespace) -> tuple[DictConfig, tuple[str, ...]]:
    """Returns the configuration of a command line, and the groups whose options fit the choices of
    a grid alone. Raises the errors of config_guard.
    """
    try:
        return config_guard.checked(conf, args.overrides, args.config_dir), ()
    except (HydraException, OmegaConfBaseException):
        sweeps = args.multirun or _mode_is_open(args)
        groups = config_guard.swept(conf, args.overrides, args.config_dir) if sweeps else ()
        if not groups:
            raise
    own = within(args.overrides, groups)
    return config_guard.checked(conf, own, args.config_dir), groups


def _check_launcher(words: Sequence[str]) -> None:
    """Raises UserError for a single job that is given to a cluster: it would run here."""
    for option, _, launcher in (word.partition("=") for word in words):
        if option == LAUNCHER and launcher != HERE:
            raise UserError(option, launcher, *SINGLE)


def _hydra(program: Program) -> None:
    hydra.main(version_base="1.3", config_path=program.conf, config_name="config")(program)()


@contextmanager
def _words(name: str, words: Sequence[str]) -> Iterator[None]:
    """Inside, Hydra and Lightning find these words in sys.argv."""
    before, sys.argv = sys.argv, [name, *words]
    try:
        yield
    finally:
        sys.argv = before


def _parsed(words: Sequence[str]) -> Namespace:
    """Parses the command line as Hydra does, `option=value` words as `overrides`. Raises UserError
    for a flag that extrap does not take.
    """

    def error(message: str) -> None:
        raise UserError(f"{message}; see extrap --help")

    parser = get_args_parser()
    for action in parser._actions:
        if action.dest == "version":
            action.version = f"extrap {__version__}"  # type: ignore[attr-defined]
    parser.error = error  # type: ignore[assignment, method-assign]
    args = parser.parse_args(words)
    for flag in REFUSED:
        if (value := getattr(args, flag)) not in (None, False):
            problem = "extrap does not take this flag of Hydra"
            remedy = "put choices and experiments in a folder and give --config-dir"
            raise UserError(f"--{flag.replace('_', '-')}", value, problem, remedy)
    return args


def _lists(args: Namespace) -> bool:
    """True for `-m --cfg job`, which Hydra rejects and extrap reads as the list of the jobs."""
    return args.multirun and args.cfg == "job" and not (args.package or args.resolve)


def _mode_is_open(args: Namespace) -> bool:
    """True if the words neither print nor choose a mode, as the last word of a job of a sweep does:
    a grid of the configuration is then swept.
    """
    flags = (args.help, args.run, args.multirun, args.cfg, args.info)
    typed = any(word.lstrip("+").startswith("hydra.mode=") for word in args.overrides)
    return not any(flags) and not typed
