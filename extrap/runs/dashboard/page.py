"""What W&B shows of a job besides its numbers: names, groups, tags, configuration."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from extrap.runs.folder import Named, fingerprint, read_json, write_json
from extrap.runs.layout import DIRECT

LONGEST_TAG, LONGEST_ID = 64, 64
BEST = "series/"
"""What begins the names of values that all pages of a series share."""


@dataclass(frozen=True)
class Page:
    """run: the name of the run folder; extension: its name in files; options: the configuration as
    plain values; series: the line of figures and tables that the page belongs to, said in full
    unless the whole study is known; size: the number of parameters of its model; trained: whether
    the run passed the gate of each task; best: the values of its series that pages are sorted by.
    """

    study: str
    run: str
    extension: str
    scheme: str
    data: str
    seed: int
    train_length: int
    tasks: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    job_type: str = "run"
    series: str = ""
    size: int | None = None
    trained: Mapping[str, bool] = field(default_factory=dict)
    best: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The same whenever the same thing is shown, on whatever machine."""
        end = self.run[-(LONGEST_ID - 13) :]
        return f"{end}-{fingerprint([self.study, self.run, self.extension])}"

    def kept_id(self) -> str:
        """The id that stands beside the checkpoint, put there the first time: a resumed run goes on
        with its page.
        """
        path, key = Named(self.run).folder / "wandb.json", f"{self.study}__{self.extension}"
        kept = read_json(path)
        if key not in kept and path.parent.is_dir():
            with suppress(OSError):  # the folder of somebody else: the id is the same next time
                write_json(path, kept | {key: self.id})
        return str(kept.get(key, self.id))

    @property
    def name(self) -> str:
        return self.run if self.extension == DIRECT else f"{self.run} + {self.extension}"

    @property
    def tags(self) -> list[str]:
        tags = [
            self.scheme,
            self.data,
            *self.tasks,
            f"L{self.train_length}",
            *([] if self.extension == DIRECT else [self.extension]),
        ]
        return [tag[:LONGEST_TAG] for tag in dict.fromkeys(tags)]

    @property
    def config(self) -> dict[str, Any]:
        """Names at the top, to group by; everything else below `options`."""
        names = {
            "study": self.study,
            "run": self.run,
            "scheme": self.scheme,
            "data": self.data,
            "extension": self.extension,
            "series": (self.series or self._in_full) if self.job_type == "run" else None,
            "size": self.size,
        }
        return names | {
            "seed": self.seed,
            "train_length": self.train_length,
            "options": dict(self.options),
            **trained(self.trained),
        }

    @property
    def _in_full(self) -> str:
        """A series that no other settings share, whatever else the study will hold."""
        alike = self.run.removesuffix(f"-s{self.seed}")
        return alike if self.extension == DIRECT else f"{alike} + {self.extension}"


def trained(passed: Mapping[str, bool]) -> dict[str, bool]:
    """The keys `trained/<task>` of a page."""
    return {f"trained/{task}": value for task, value in passed.items()}
