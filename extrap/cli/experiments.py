"""The experiments that make a study, and the commands that have started its jobs on this disk."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from extrap.runs.study import Entry, entries, studies
from extrap.utils.errors import escaped
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def experiments(study: str) -> list[str]:
    """Returns the names of the files of conf/experiment that write rows of a study."""
    folder = Path(conf_dir()) / "experiment"
    own = [path for path in folder.rglob("*.yaml") if read_yaml(path).get("study") == study]
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in own)


def lacking(experiment: str) -> list[str]:
    """Returns the options that an experiment leaves to the command line: `path: ???`."""
    return [*_missing(read_yaml(Path(conf_dir(), "experiment", f"{experiment}.yaml")))]


def _missing(node: Any, option: str = "") -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _missing(value, f"{option}.{name}".lstrip("."))
    elif node == "???":
        yield option


def commands(study: str) -> list[str]:
    """Returns the commands that make a study. An experiment is one command, the same on every disk.
    A study without experiments has the commands that started its jobs on this disk, and none if
    its rows came without jobs.
    """
    if names := experiments(study):
        return [f"extrap experiment={name}" for name in names]
    jobs = entries(study) if study in studies() else []
    return [escaped(shlex.join(words)) for words in started(jobs)]


def started(jobs: Iterable[Entry]) -> list[list[str]]:
    """Returns the commands that started jobs, split into words. Leaves out commands of other
    programs, and text that is no command.
    """
    found = []
    for line in dict.fromkeys(chain.from_iterable(job.commands for job in jobs)):
        try:
            split = shlex.split(line)
        except ValueError:
            continue
        if split[:1] == ["extrap"]:
            found.append(split)
    return found


def seeds(study: str) -> int:
    """Returns the most seeds that an experiment of a study trains, or 0 if no grid names a seed."""
    folder = Path(conf_dir()) / "experiment"
    counts = [len(_seeds(folder / f"{name}.yaml")) for name in experiments(study)]
    return max(counts, default=0)


def _seeds(experiment: Path) -> set:
    """Returns the seeds that the grid of an experiment names."""
    sweep = read_yaml(experiment).get("sweep") or {}
    found: set = set()
    for job in _listed(sweep.get("grid") or []):
        if isinstance(job, dict):
            found |= set(_listed(job.get("seed", [])))
    return found


def _listed(value: Any) -> list:
    """Returns a list as it is, and another value as a list of one."""
    return value if isinstance(value, list) else [value]
