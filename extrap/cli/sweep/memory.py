"""Whether the system killed processes for lack of memory."""

from pathlib import Path

COUNTERS = Path("/proc/vmstat")


def kills() -> int:
    """Processes that the kernel's out-of-memory killer ended since the machine started; 0 where it
    does not count them.
    """
    try:
        words = COUNTERS.read_text(encoding="utf-8").split()
        return int(words[words.index("oom_kill") + 1])
    except (OSError, ValueError, IndexError):
        return 0
