"""Jobs of a sweep that differ in their seed alone: one is read, the others follow it.

A seed changes nothing of such a job but the name of its run (`Work.run_of`), so that a follower has
the place and the check of its leader. Following takes a fiftieth of the time that reading takes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from extrap.cli.sweep.process import Process, State

SEED = re.compile(r"seed=(0|[1-9]\d{0,8})")
"""A word whose value Hydra reads as a whole number, within the bounds of the option."""


def apart(overrides: Sequence[str]) -> tuple[tuple[str, ...], int | None]:
    """Returns the other words of a job, and its seed; None for a seed that is written otherwise, or
    twice, or not at all.
    """
    others = tuple(word for word in overrides if not SEED.fullmatch(word))
    seeds = [word for word in overrides if word.lstrip("+").startswith("seed")]
    match = SEED.fullmatch(seeds[0]) if len(seeds) == 1 else None
    return others, int(match[1]) if match else None


@dataclass(frozen=True)
class Leader:
    """A job that was read, for jobs of other seeds.

    Args:
        job: as it was read, not started
        seed: its own
        values: its options without the seed, hashed
        run_of: names the run of another seed; None if a seed changes more than that
        checked: True if its check holds for jobs that are not trained yet. A finished job is not
            checked, and a trained one less.
    """

    job: Process
    seed: int
    values: str
    run_of: Callable[[int], str | None]
    checked: bool

    def follower(self, seed: int) -> Process | None:
        """Returns the job of another seed, without its words; None if that job is to be read: its
        name is longer, or the leader was not checked for it.
        """
        if len(str(seed)) > len(str(self.seed)) or (run := self.run_of(seed)) is None:
            return None
        parent = self.job.entry.parent  # a run's name ends with its seed
        parent = parent and parent.removesuffix(f"-s{self.seed}") + f"-s{seed}"
        entry = replace(self.job.entry, run=run, parent=parent)
        if not entry.missing():
            return replace(self.job, entry=entry, state=State.SKIPPED, reason="")
        return replace(self.job, entry=entry) if self.checked else None
