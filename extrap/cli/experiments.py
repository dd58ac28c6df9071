"""The experiments of conf/experiment that make a study, and the commands that made one here."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from extrap.runs.study import Entry, entries, studies
from extrap.utils.errors import escaped
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def experiments(study: str) -> list[str]:
    """Returns the names of the experiments that write rows of a study."""
    folder = Path(conf_dir()) / "experiment"
    own = [path for path in folder.rglob("*.yaml") if read_yaml(path).get("study") == study]
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in own)


def commands(study: str) -> list[str]:
    """Returns the commands that make a study: of its experiments, which are the same everywhere,
    else those that asked for its jobs here; none if its rows came without jobs.
    """
    if names := experiments(study):
        return [f"extrap experiment={name}" for name in names]
    jobs = entries(study) if study in studies() else []
    return [escaped(shlex.join(words)) for words in asked(jobs)]


def asked(jobs: Iterable[Entry]) -> list[list[str]]:
    """Returns the commands that asked for jobs, in words: commands of extrap alone."""
    found = []
    for line in dict.fromkeys(job.command for job in jobs):
        try:
            split = shlex.split(line)
        except ValueError:
            continue
        if split[:1] == ["extrap"]:
            found.append(split)
    return found


def seeds(study: str) -> int:
    """Returns how many seeds the experiments of a study train, at most: 0 if none names any."""
    folder, most = Path(conf_dir()) / "experiment", 0
    for name in experiments(study):
        sweep = read_yaml(folder / f"{name}.yaml").get("sweep") or {}
        grid = sweep.get("grid") or []
        jobs = grid if isinstance(grid, list) else [grid]
        found: set = set()
        for job in jobs:
            given = job.get("seed", []) if isinstance(job, dict) else []
            found |= set(given if isinstance(given, list) else [given])
        most = max(most, len(found))
    return most
