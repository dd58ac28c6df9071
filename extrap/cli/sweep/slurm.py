"""SLURM: puts jobs into the queue as arrays, through submitit, and asks the queue for their states.

submitit keeps its pickles in a folder that it is given. Each sweep makes one of its own: with a
random name, for its user alone, empty. The sweep reads no pickle; a job hands back a JSON file.
"""

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr
from itertools import takewhile
from pathlib import Path
from typing import Any

from extrap.cli.sweep.node import Work
from extrap.cli.sweep.process import LAST
from extrap.cli.sweep.slurm_options import Place, SlurmOptions
from extrap.utils.atomic import make_folder
from extrap.utils.errors import UserError
from extrap.utils.interrupts import held_back

MOST = 1000
"""Jobs of an array: SLURM takes indices below 1001 unless its administrators say otherwise
(MaxArraySize, https://slurm.schedmd.com/slurm.conf.html).
"""

SQUEUE = ("squeue", "--array", "--noheader", "--states=all", "--format=%i|%T|%r")
SECONDS = 60.0
"""Seconds that squeue has to answer."""

NOISE = ("srun:", "submitit ")
"""Beginnings of lines that say how a process ended, and not why."""

LAUNCHER = "hydra/launcher=slurm"


def private(folder: str) -> Path:
    """Makes the folder of one sweep in `folder`, the parts of its path from the first `%` on left
    out. Raises UserError if a link leads to it.
    """
    parts = takewhile(lambda part: "%" not in part, Path(folder).parts)
    make_folder(base := Path(*parts))
    return Path(tempfile.mkdtemp(prefix="sweep-", dir=base)).absolute()


def executor(folder: Path, options: SlurmOptions, place: Place) -> Any:
    """Returns submitit's executor. Raises UserError on a machine without SLURM."""
    import submitit

    python = f"{shlex.quote(sys.executable)} -P"  # the working folder stays off the import path
    own = {"slurm_max_num_timeout": options.max_num_timeout, "slurm_python": python}
    try:
        made = submitit.AutoExecutor(folder, cluster="slurm", **own)
    except RuntimeError as error:
        raise UserError(
            LAUNCHER, problem=error, remedy="start the sweep where `sbatch` works"
        ) from None
    made.update_parameters(**options.parameters(place))
    return made


def queue(executor: Any, work: Sequence[Work]) -> list[str]:
    """Submits jobs in arrays of at most MOST, in their order, and returns the number of each.
    Raises UserError with the words of sbatch if the cluster rejects an array.
    """
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    numbers: list[str] = []
    for start in range(0, len(work), MOST):
        try:
            # submitit repeats on stderr what sbatch says; a job in the queue needs its pickle
            with redirect_stderr(io.StringIO()), held_back():
                jobs = executor.submit_array(work[start : start + MOST])
        except (FailedJobError, FailedSubmissionError, FileNotFoundError) as error:
            lines = [line.removeprefix("sbatch: error: ") for line in str(error).splitlines()]
            said = ", ".join(line.strip() for line in lines if line.strip())
            remedy = "give other options hydra.launcher.*"
            if numbers:
                remedy += f"; {len(numbers)} jobs are in the queue as {arrays(numbers)}"
            else:
                shutil.rmtree(executor.folder)
            raise UserError(LAUNCHER, problem=f"sbatch: {said}", remedy=remedy) from None
        numbers += [job.job_id for job in jobs]
    return numbers


def arrays(numbers: Sequence[str]) -> str:
    """Returns the numbers of the arrays of jobs, in words: `44, 45`."""
    return ", ".join(dict.fromkeys(number.partition("_")[0] for number in numbers))


def states() -> dict[str, tuple[str, str]] | None:
    """Returns the state and the reason of each job of this user by number: `{"44_0": ("PENDING",
    "Resources")}`. The queue lists jobs for some minutes after their end. Returns None if squeue
    does not answer.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SQUEUE_")}
    command = [*SQUEUE, f"--user={os.getuid()}"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0:
        return None
    lines = [line.split("|", 2) for line in answer.stdout.splitlines() if line.count("|") >= 2]
    return {number.strip(): (state, reason) for number, state, reason in lines}


def last_words(folder: Path, number: str) -> str:
    """Returns the last line of the logs of a node about the end of a job, "" without one."""
    from submitit.core.utils import JobPaths

    paths = JobPaths(folder, job_id=number)
    return last_line(paths.stderr, skip=NOISE) or last_line(paths.stdout, skip=NOISE)


def last_line(log: Path, skip: tuple[str, ...] = ()) -> str:
    """Returns the last line of a log, "" without one. skip: beginnings of lines that say
    nothing.
    """
    try:
        if not log.is_file():  # reading a pipe never ends
            return ""
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - LAST))
            lines = file.read(LAST).decode(errors="replace").splitlines()
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip() and not line.startswith(skip)]
    return said[-1] if said else ""
