"""The trained run whose options differ least from those of another: usually the run that was meant
when `stage=evaluate` finds nothing.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from extrap.runs.folder import Named, Run, read_json
from extrap.runs.layout import RUNS
from extrap.utils.errors import UserError, shown

MOST = 2
"""Options in which a run may differ to be called near."""

NAMES = {"precision": "trainer.precision", "corpus": "data.corpus"}
"""Options that an identity holds under another name."""


def near(run: Run) -> tuple[str, dict[str, tuple[Any, Any]]] | None:
    """Returns the name of the nearest trained run and {option: (value there, value here)}; None if
    every run differs in more than MOST options.
    """
    own = dict(_flat(run.identity)) | {"seed": run.seed}
    found = []
    for path in sorted(RUNS.glob("*/config.json")):
        about, name = read_json(path), path.parent.name
        if name == run.name or not isinstance(about.get("identity"), dict):
            continue
        other = dict(_flat(about["identity"])) | {"seed": about.get("seed")}
        differ = {
            NAMES.get(option, option): (other.get(option), own.get(option))
            for option in sorted(own.keys() | other.keys())
            if own.get(option) != other.get(option)
        }
        with suppress(UserError):  # a run folder of a later version
            if 0 < len(differ) <= MOST and Named(name).trained:
                found.append((len(differ), name, differ))
    return min(found)[1:] if found else None


def untrained(
    run: Run, option: str, value: object, remedy: str, done: str = "trained"
) -> UserError:
    """Returns the error about a run that is not trained, or tuned, yet; it names the nearest run
    that is. option, value: the mistaken ones; remedy: what trains it.
    """
    problem = f"{run.name} is not {done} yet"
    if (other := near(run)) is not None:
        name, differ = other
        each = [f"{o}={shown(theirs)}, not {shown(ours)}" for o, (theirs, ours) in differ.items()]
        problem += f", but {name} is, which has {' and '.join(each)}"
    return UserError(option, value, problem, remedy)


def _flat(options: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (option, value), nested options as `model.dim`."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
