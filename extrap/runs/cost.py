"""What work costs, as run folders keep it (extrap/runs/training/meter.py measures it).

seconds            on the wall, without the time that killed attempts lost after their checkpoint
processor_seconds  of the first process, and of those that drew batches for it and have ended
device_seconds     seconds times GPUs held; 0 on a processor
memory             most bytes at once: of a GPU, or of the process
tokens_per_second  of training
share_of_peak      of training: 6 N + 12 layers C T operations a token (arXiv 2204.02311) over what
                   the GPU can do; None where Lightning does not know the GPU
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from extrap.runs.study import Entry, entries

LARGEST = 1e18
"""Of a number in a file that others may have written."""


@dataclass(frozen=True)
class Cost:
    """The numbers above."""

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
    """Returns the cost in a file that anyone may have written; numbers alone are read."""
    known: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {}
    names = [field.name for field in fields(Cost)]
    given = {name: known[name] for name in names if type(known.get(name)) in (int, float)}
    return Cost(**{name: value for name, value in given.items() if 0 <= value < LARGEST})


def costs(study: str) -> dict[str, Cost]:
    """Returns the costs of the runs of a study whose folders are here, by name, and of the
    evaluations under an extension by `run + extension`.
    """
    found: dict[str, Cost] = {}
    for entry in entries(study):
        training = read(entry.folder.state.get("cost"))
        if training != Cost():
            found.setdefault(entry.run, training)
        if (spent := total(_evaluations(entry))) != Cost():
            found[f"{entry.run} + {entry.extension}"] = spent
    return found


def _evaluations(entry: Entry) -> Iterable[Cost]:
    for task in entry.tasks:
        yield read(entry.folder.note(entry.file(task).note).get("cost"))


def total(found: Iterable[Cost]) -> Cost:
    """Returns the sum of costs, and of their memory the most."""
    return sum(found, start=Cost())
