"""The trained run whose options differ least from those of another: usually the run that was meant
when `stage=evaluate` finds nothing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from extrap.runs.folder import Named, Run, read_json
from extrap.runs.layout import RUNS, SAFE
from extrap.utils.errors import UserError, shown

MOST = 2
"""Options in which a run may differ to be called near."""

NAMES = {"precision": "trainer.precision", "corpus": "data.corpus"}
"""Options of parts of an identity that are called otherwise there."""

ABSENT = "no value"


def near(run: Run) -> tuple[str, dict[str, tuple[Any, Any]]] | None:
    """Returns the name of the nearest trained run and {option: (value there, value here)}; None if
    every run differs in more than MOST options.
    """
    own = dict(_flat(run.identity)) | {"seed": run.seed}
    found = []
    for path in sorted(RUNS.glob("*/config.json")):
        other = _options(path)
        if other is None or path.parent.name == run.name:
            continue
        differ = {
            NAMES.get(name, name): (other.get(name, ABSENT), own.get(name, ABSENT))
            for name in sorted(own.keys() | other.keys())
            if own.get(name, ABSENT) != other.get(name, ABSENT)
        }
        if 0 < len(differ) <= MOST and _trained(path.parent.name):
            found.append((len(differ), path.parent.name, differ))
    return min(found)[1:] if found else None


def untrained(
    run: Run, option: str, value: object, remedy: str, done: str = "trained"
) -> UserError:
    """Returns the error about a run that is not trained, or tuned, yet; it names the nearest run
    that is. option, value: where the run is asked for; remedy: what trains it.
    """
    if (other := near(run)) is None:
        return UserError(option, value, f"{run.name} is not {done} yet", remedy)
    name, differ = other
    each = [f"{o}={shown(theirs)}, not {shown(ours)}" for o, (theirs, ours) in differ.items()]
    problem = f"{run.name} is not {done} yet, but {name} is, which has {' and '.join(each)}"
    return UserError(option, value, problem, remedy)


def _options(path: Path) -> dict[str, Any] | None:
    about = read_json(path)
    if not SAFE.fullmatch(path.parent.name) or not isinstance(about.get("identity"), dict):
        return None
    return dict(_flat(about["identity"])) | {"seed": about.get("seed")}


def _trained(name: str) -> bool:
    try:
        return Named(name).trained
    except UserError:  # of a later version
        return False


def _flat(options: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """(option, value), nested options as `model.dim`."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
