"""The processes of one job on several devices: `python -P -m extrap.cli.sweep.ranks 2 COMMAND...`

torch's own launcher starts COMMAND once for each device, and ends all processes if one ends badly.
The first process holds the lock of the run and writes everything.
"""

import os
import signal
import sys
from typing import NoReturn

from extrap.cli.sweep.process import SWEEP, join
from extrap.utils import progress
from extrap.utils.interrupts import held_back

LOCAL = "127.0.0.1"
"""Where the processes meet: the name of a host may have no address."""


def wrapped(command: list[str], processes: int) -> list[str]:
    """Returns the command that runs a command in several processes."""
    if processes == 1:
        return command
    return [sys.executable, "-P", "-m", "extrap.cli.sweep.ranks", str(processes), *command]


def main(processes: str, *command: str) -> NoReturn:
    join()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # until the program knows better
    os.environ[SWEEP] = str(os.getpid())  # each process is a job of this one, and dies with it
    with held_back():
        from torch.distributed import run
        from torch.distributed.elastic.multiprocessing.api import SignalException
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    where = ["--standalone", f"--local-addr={LOCAL}", f"--nproc-per-node={processes}"]
    try:
        run.run(run.parse_args([*where, "--no-python", *command]))
    except SignalException as stop:
        raise SystemExit(128 + stop.sigval) from None
    except ChildFailedError as error:
        raise SystemExit(_code({n: one.exitcode for n, one in error.failures.items()})) from None
    raise SystemExit(0)


def _code(codes: dict[int, int]) -> int:
    """Returns the exit code of the job. codes: of the processes that ended badly. The first one
    tells its own mistakes; a process that was killed cannot.
    """
    killed = [n for n, code in codes.items() if code < 0 and -code != signal.SIGTERM]
    if killed:
        number = signal.Signals(-codes[killed[0]]).name
        progress.end("failed", f"process {killed[0]} of the job was killed by {number}")
        return 1
    return codes.get(0, max(codes.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
