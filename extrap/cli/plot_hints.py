"""What `extrap-plot` says of figures that it cannot draw: which rows they lack, and the command
that makes them for this study.
"""

from pathlib import Path
from types import ModuleType

import pandas as pd

from extrap import figures
from extrap.results.series import CONTROLS, MIXTURE
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

MOST = 3
"""Lines without having been asked."""

SCHEME, LENGTH = "rope", 64
"""What a command trains where nothing is said."""


def hints(known: dict[str, ModuleType], without: list[str], rows: pd.DataFrame) -> list[str]:
    """Lines about the figures that a study lacks rows for: at most three, those first that ask for
    least.

    None is given for a task that the study never asked, for curves of training, for what it has
    asked already (an earlier program made other rows of it: the command would skip it), and where
    the command would train on other data than the study has, with a scheme that nobody can name, or
    on longer windows than usual, which take more options than rows tell.
    """
    study = str(rows["study"].iloc[0])
    found = []
    for name in without:
        own = options(known[name], rows)
        if own is not None:
            found.append(
                (len(_make(known[name]).split()), str(lacking(name, known[name], study, own)))
            )
    return [line for _, line in sorted(found, key=lambda one: one[0])][:MOST]


def lacking(name: str, figure: ModuleType, study: str, own: str = "") -> UserError:
    """Returns the error about a figure whose rows a study lacks. own: options that its command gets
    besides those that every study needs.
    """
    problem = f"no rows with {figures.needed(figure)} in study {study}"
    return UserError(
        name, problem=problem, remedy=f"`{figures.command(figure, study, own)}` makes them"
    )


def options(figure: ModuleType, rows: pd.DataFrame) -> str | None:
    """The options that make the command of a figure one of this study: its data, a scheme, the
    training length, as far as they differ from what is trained where nothing is said. None where
    the command is no use here.
    """
    make, task = _make(figure), figure.NEEDS["task"]
    asked = rows[rows["task"] == task]
    if asked.empty or task == "train" or not make:
        return None
    data = _data(figure, asked)
    if data is None:
        return None
    words = [] if data in ("", MIXTURE) else [f"data={data}"]
    known = [name for name in asked["scheme"].unique() if _file("scheme", name).is_file()]
    if not known or (SCHEME not in known and " extension=" in make):
        return None
    words += [] if SCHEME in known else [f"scheme={known[0]}"]
    lengths = asked["train_length"].unique()
    if max(lengths) > _length(data):
        return None
    if len(lengths) == 1 and " data.length=" not in make and lengths[0] != _length(data):
        words.append(f"data.length={lengths[0]}")
    return "".join(f" {word}" for word in words)


def _data(figure: ModuleType, asked: pd.DataFrame) -> str | None:
    """What to train on: of the data of the study one that saw what the figure is about. Empty where
    the command names it; None where the study has other data than that.
    """
    seen = figure.NEEDS.get("seen")
    blind = {control for control in CONTROLS if seen in CONTROLS and control != seen}
    own = sorted({*asked["data"]} - blind, key=lambda name: (name != MIXTURE, name))
    named = [word.partition("=")[2] for word in _make(figure).split() if word.startswith("data=")]
    if named:
        return "" if named[0] in own else None
    return own[0] if own and _file("data", own[0]).is_file() else None


def _make(figure: ModuleType) -> str:
    return getattr(figure, "MAKE", "")


def _file(group: str, name: str) -> Path:
    return Path(conf_dir(), group, f"{name}.yaml")


def _length(data: str) -> int:
    """That windows of these data have where nothing is said."""
    if data == "":
        return LENGTH
    return read_yaml(_file("data", data)).get("length", LENGTH)
