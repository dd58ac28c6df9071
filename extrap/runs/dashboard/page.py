"""The names, group, tags and configuration of a page of W&B."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from extrap.runs.identity import fingerprint
from extrap.runs.layout import DIRECT

LONGEST_TAG, LONGEST_ID = 64, 64
BEST = "series/"
"""Prefix of the values that all pages of a series share."""


@dataclass(frozen=True)
class Page:
    """The names, group, tags and configuration of a page of W&B.

    Args:
        run: the name of the run folder
        extension: its name in files
        options: the configuration as plain values
        series: the line of figures and tables that the page belongs to, said in full unless the
            whole study is known
        size: the number of parameters of its model
        trained: whether the run passed the gate of each task
        best: the values of its series that pages are sorted by
        by_agent: whether an agent of W&B may name it: the page of the run of a command that is no
            sweep
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
    by_agent: bool = False

    @property
    def id(self) -> str:
        """The same on every machine, so that a resumed run continues its page."""
        end = self.run[-(LONGEST_ID - 13) :]
        return f"{end}-{fingerprint([self.study, self.run, self.extension])}"

    @property
    def name(self) -> str:
        return self.run if self.extension == DIRECT else f"{self.run} + {self.extension}"

    @property
    def tags(self) -> list[str]:
        extension = [] if self.extension == DIRECT else [self.extension]
        tags = [self.scheme, self.data, *self.tasks, f"L{self.train_length}", *extension]
        return [tag[:LONGEST_TAG] for tag in dict.fromkeys(tags)]

    @property
    def config(self) -> dict[str, Any]:
        """Names at the top, to group by; everything else below `options`."""
        # the name of a series that stays unique whatever runs the study gains
        alike = self.run.removesuffix(f"-s{self.seed}")
        in_full = alike if self.extension == DIRECT else f"{alike} + {self.extension}"
        names = "study", "run", "scheme", "data", "extension", "size", "seed", "train_length"
        return {name: getattr(self, name) for name in names} | {
            "series": (self.series or in_full) if self.job_type == "run" else None,
            "options": dict(self.options),
            **{f"trained/{task}": passed for task, passed in self.trained.items()},
        }
