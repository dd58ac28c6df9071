"""The text of `extrap --help`: choices, options, flags, the other commands. It reads files and
dataclasses alone and imports no torch.
"""

import textwrap
from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

from extrap.cli.commands import COMMANDS
from extrap.cli.hydra_errors import groups
from extrap.cli.schema import Config
from extrap.runs.training.optim import Optim
from extrap.utils.errors import shown

HEAD = """\
extrap: a positional scheme, trained on short contexts, tested on long ones.

Trains one configuration, then evaluates it. The same command continues an interrupted run.
Runs go to runs/, rows of results to results/<study>/rows/.
"""

OPTIONS = {
    "study": "rows and figures go to results/<study>",
    "stage": "train, evaluate or all",
    "seed": "of weights and batches",
    "threads": "cores of one job",
    "label": "name of the series in tables and figures; null: the name of the scheme",
    "plugins": "your own packages, whose classes extrap may build",
    "keep_going": "measure the other tasks if one cannot run",
    "accept_rows": "rows of another machine count as done",
}
"""Options that belong to no group."""

NESTED = "experiment/"
"""Folders in this group hold more of its choices, and are no groups."""

FLAGS = {
    "-m, --multirun": "a sweep: every combination of the values given",
    "--cfg job": "print every option with its value and run nothing; works with any choice",
    "hydra.launcher.n_jobs=2": "jobs of a sweep side by side; hydra/launcher=slurm queues them",
    "--config-dir DIR": "your own choices, in a folder with the same groups",
}

EXAMPLES = {
    "extrap scheme=alibi seed=1": "train and evaluate one model",
    "extrap -m scheme=rope,alibi seed=0,1,2": "a sweep: every combination, side by side",
    "extrap -m 'scheme=glob(*)' study=all": "every scheme",
    "extrap experiment=demo": "a sweep kept in a file",
    "extrap data/corpus=files data.corpus.path=my/texts": "your own text",
    "extrap scheme=t5 --cfg job": "every option of this choice",
}


def text(folders: Iterable[str]) -> str:
    """Returns the text of --help; folders: of configuration files, which hold the choices."""
    plain = {f"{one.name}={_shown(one)}": OPTIONS[one.name] for one in options()}
    train = " ".join(f"{one.name}={one.default}" for one in fields(Optim))
    recipe = textwrap.fill(train, 96, initial_indent="  train.: ", subsequent_indent="          ")
    parts = [
        HEAD,
        "Choices (group=option):\n",
        *(f"{group}: {', '.join(names)}" for group, names in choices(folders).items()),
        "\nOptions (option=value):\n",
        *_aligned(plain),
        recipe,
        "  Options of a choice begin with its group, as in model.layers=4; --cfg job prints them.",
        "\nSweeps and flags:\n",
        *_aligned(FLAGS),
        "\nExamples:\n",
        *_aligned(EXAMPLES),
        "\nCommands (extrap COMMAND --help):\n",
        *_aligned({f"extrap {name}": says for name, says in COMMANDS.items()}),
    ]
    return "\n".join(parts)


def choices(folders: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of the files of every group. The name of an experiment holds its folder:
    experiment=reference/headline.
    """
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in groups(folder):
            group, _, inner = path.partition("/") if path.startswith(NESTED) else (path, "", "")
            names = (Path(inner, file.stem) for file in Path(folder, path).glob("*.yaml"))
            found.setdefault(group, set()).update(name.as_posix() for name in names)
    return {group: sorted(found[group]) for group in sorted(found)}


def options() -> list[Any]:
    """Returns the fields of a configuration that are plain values."""
    return [one for one in fields(Config) if one.name in OPTIONS]


def _shown(option: Any) -> str:
    value = [] if option.name == "plugins" else option.default
    return shown(value.value if isinstance(value, Enum) else value)


def _aligned(lines: dict[str, str]) -> list[str]:
    wide = max(map(len, lines))
    return [f"  {word:{wide}}  {says}" for word, says in lines.items()]
