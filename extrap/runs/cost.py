"""The cost of work, as run folders keep it. extrap/runs/training/meter.py measures it.

seconds            wall time, without the time that killed attempts lost after their last checkpoint
processor_seconds  of the first process, and of the processes that drew its batches and have ended
device_seconds     seconds times the number of GPUs that the work holds, over the number of jobs
                   that its sweep packs on each; 0 on a processor
memory             the most bytes at once: of a GPU, or of the process on a processor
tokens_per_second  of training
share_of_peak      of training: 6 N + 12 layers C T operations a token, N the parameters of the
                   blocks, and 6 C V a token that the head scores (arXiv 2204.02311), over the
                   operations that the GPU can do; None if Lightning does not know the GPU
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from extrap.runs.study import Entry, entries

PER_DEVICE = "EXTRAP_PER_DEVICE"
"""In the environment of a job: how many jobs its sweep packs on each device."""

LARGEST = 1e18
"""Upper bound of a number in a file, which others may have written."""


@dataclass(frozen=True)
class Cost:
    """The cost of some work; the head of this file explains the numbers."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    device_seconds: float = 0.0
    memory: float = 0.0
    tokens_per_second: float | None = None
    share_of_peak: float | None = None

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.seconds + other.seconds,
            self.processor_seconds + other.processor_seconds,
            self.device_seconds + other.device_seconds,
            max(self.memory, other.memory),
            other.tokens_per_second if self.tokens_per_second is None else self.tokens_per_second,
            other.share_of_peak if self.share_of_peak is None else self.share_of_peak,
        )

    def plain(self) -> dict[str, float | None]:
        """Returns the numbers for a JSON file, with three decimals."""
        return {name: value and round(value, 3) for name, value in asdict(self).items()}


def read(found: Any) -> Cost:
    """Reads the cost in a file that anyone may have written. Takes numbers from 0 to LARGEST alone,
    and ignores everything else.
    """
    known: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {}
    numbers = {}
    for field in fields(Cost):
        value = known.get(field.name, -1)
        if type(value) in (int, float) and 0 <= value < LARGEST:
            numbers[field.name] = value
    return Cost(**numbers)


def costs(study: str) -> dict[str, Cost]:
    """Returns the costs of a study whose run folders are on this disk: of a training by the name of
    the run, of the evaluations under an extension by `run + extension`.
    """
    found: dict[str, Cost] = {}
    for entry in entries(study):
        training = read(entry.folder.state.get("cost"))
        if training != Cost():
            found.setdefault(entry.run, training)
        spent = total(_evaluations(entry))
        if spent != Cost():
            found[f"{entry.run} + {entry.extension}"] = spent
    return found


def days(study: str) -> dict[str, str]:
    """Returns the day (UTC, 2026-11-26) on which the last work of each name of `costs` ended: the
    day of the file that says so, which a copy of the folder may change.
    """
    ends: dict[str, float] = {}
    for entry in entries(study):
        for name, file in _ends(entry):
            if file.is_file():
                ends[name] = max(ends.get(name, 0.0), file.stat().st_mtime)
    return {name: f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d}" for name, end in ends.items()}


def _ends(entry: Entry) -> Iterator[tuple[str, Path]]:
    """Yields the name of each work of a job, and the file that says that it ended."""
    yield entry.run, entry.folder.ended
    for task in entry.tasks:
        yield f"{entry.run} + {entry.extension}", entry.folder.done(entry.file(task).note)


def _evaluations(entry: Entry) -> Iterable[Cost]:
    for task in entry.tasks:
        yield read(entry.folder.note(entry.file(task).note).get("cost"))


def total(found: Iterable[Cost]) -> Cost:
    """Returns the sum of costs; its memory is the largest of theirs. Several works have no rate."""
    whole = sum(found, start=Cost())
    return replace(whole, tokens_per_second=None, share_of_peak=None)
