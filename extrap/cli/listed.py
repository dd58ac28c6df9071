"""The jobs of a study as words of the command line, one job each."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from extrap.cli.experiments import commands
from extrap.cli.sweep.grid import COMMAND_LINE_ONLY
from extrap.cli.words import NAME
from extrap.utils.errors import UserError

if TYPE_CHECKING:
    from extrap.runs.job import Job


class Listed(NamedTuple):
    """A job as its run and its evaluations name it.

    Args:
        words: of one job, --config-dir and its folder before them
        run, extension: their names in files
        tasks: the hash of each evaluation
        job: the job itself
    """

    words: tuple[str, ...]
    run: str
    extension: str
    tasks: dict[str, str]
    job: "Job"


def jobs(study: str) -> list[tuple[str, ...]]:
    """Returns the words of every job of the commands that make a study. Raises UserError if no
    command is known, and for a command that no longer composes.
    """
    made = commands(study)
    if not made:
        problem = "no command of it is known here"
        raise UserError("STUDY", study, problem, "verify it where its runs were started")
    found: dict[tuple[str, ...], None] = {}
    for line in made:
        words = [word for word in shlex.split(line)[1:] if word not in ("-m", "--multirun")]
        found |= dict.fromkeys(_expanded(words))
    return [*found]


def _expanded(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the jobs that `extrap -m WORDS --cfg job` lists."""
    command = [sys.executable, "-P", "-m", "extrap", "-m", *words, "--cfg", "job"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise UserError(shlex.join(["extrap", *words]), problem=problem)
    lines = [line.partition("  # ")[0] for line in done.stdout.splitlines()]
    return [tuple(shlex.split(line)[1:]) for line in lines if line.startswith("extrap ")]


def of_study(study: str) -> list[Listed]:
    """Returns the jobs of a study: several of one run and extension if their tasks differ. Errors
    as in `jobs`.
    """
    found = {}
    for words in jobs(study):
        one = listed(words)
        found[one.run, one.extension, *sorted(one.tasks.items())] = one
    return [*found.values()]


def checked(words: Any) -> tuple[str, ...]:
    """Returns the words of a job out of a file. Raises UserError for a word that only the command
    line may give: a file of others names no code, no server and no folder.
    """
    known = isinstance(words, list) and all(isinstance(word, str) for word in words)
    refused = foreign(words) if known else [words]
    if refused:
        raise UserError("jobs.json", problem=f"{refused[0]}: no option that a file may set")
    return tuple(words)


def foreign(words: Sequence[str]) -> list[str]:
    """Returns the words of a job that only the command line may give."""
    found = []
    for word in words:
        option, _, value = word.lstrip("+~").partition("=")
        option = option.replace("/", ".").partition("@")[0]
        alone = any(f"{option}.".startswith(f"{name}.") for name in COMMAND_LINE_ONLY)
        above = any(f"{name}.".startswith(f"{option}.") for name in COMMAND_LINE_ONLY)
        alone |= above and NAME.fullmatch(value) is None  # a choice, not options in braces
        if "=" not in word or word.startswith("-") or alone:
            found.append(word)
    return found


def listed(words: Sequence[str]) -> Listed:
    """Returns a job. Raises UserError for words that do not compose, and for a file of a task that
    is not here: the hash of its rows holds the content.
    """
    from extrap.cli import program
    from extrap.cli.composed import composed
    from extrap.runs.evaluate import file_of, planned

    own = [*words]
    folder = Path(own[1]) if own[:1] == ["--config-dir"] else None
    options = own if folder is None else own[2:]
    job = program.job(composed([*options, "logger=none", "sweep.grid=null"], folder))
    for task in job.task_names:
        file = file_of(job.config["task"][task])
        if file is not None and not os.access(file, os.R_OK):
            place = file.parent.absolute()
            problem = (
                f"there is no such file here to read, in {place}; the hash of its rows holds its "
                "content"
            )
            remedy = "bring the file to this place, or start the command where the path leads to it"
            raise UserError(f"task.{task}.path", file, problem, remedy)
    return Listed(tuple(words), job.run.name, job.extension_stem, planned(job), job)
