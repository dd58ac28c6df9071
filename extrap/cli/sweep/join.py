"""A job's side of a sweep: it ends with the sweep that started it."""

import ctypes
import os
import signal
import sys

SWEEP = "EXTRAP_SWEEP"  # in the environment of a job: the process id of the sweep
PR_SET_PDEATHSIG = 1


def join() -> None:
    """Called first in every process; does nothing in one that no sweep started.

    A job dies with its sweep, however that dies (Linux only), and can be interrupted even where a
    shell made the sweep deaf to Ctrl-C.
    """
    if (sweep := os.environ.pop(SWEEP, None)) is None:
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(
        signal.SIGUSR2, signal.SIG_IGN
    )  # how a cluster warns: it reaches all processes, and who started this one answers it
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if sweep != str(os.getppid()):  # it died before this process could ask to die with it
            raise SystemExit(1)
