"""How many cores this process may use."""

import os
from pathlib import Path

QUOTA = Path(
    "/sys/fs/cgroup/cpu.max"
)  # cgroup v2: microseconds of processor time per period, and the period


SHARE = "EXTRAP_CORES"
"""In the environment of a job: the cores that a sweep leaves to it."""


def cores() -> int:
    """Cores of this process's affinity mask, no more than the container's quota, and in a job of a
    sweep no more than its share: all are less than the machine's.
    """
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    share = os.environ.get(SHARE, "")
    if share.isdecimal():  # what somebody else has put there counts for nothing
        allowed = max(1, min(allowed, int(share)))
    try:
        quota, period = QUOTA.read_text(encoding="utf-8").split()
        return max(1, min(allowed, int(quota) // int(period)))
    except (
        OSError,
        ValueError,
    ):  # no cgroup of version 2, or the word "max" where a quota would stand
        return allowed
