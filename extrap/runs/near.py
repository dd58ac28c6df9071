"""The trained run that differs in the fewest options from an untrained one, for its message."""

from collections.abc import Mapping
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
    own, found = _flat({**run.identity, "seed": run.seed}), []
    for path in sorted(RUNS.glob("*/config.json")):
        about, name = read_json(path), path.parent.name
        if name == run.name or not isinstance(about.get("identity"), dict):
            continue
        other = _flat({**about["identity"], "seed": about.get("seed")})
        options = [o for o in sorted(own.keys() | other.keys()) if own.get(o) != other.get(o)]
        with suppress(UserError):  # a run folder of a later version
            if 0 < len(options) <= MOST and Named(name).trained:
                differ = {NAMES.get(o, o): (other.get(o), own.get(o)) for o in options}
                found.append((len(options), name, differ))
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


def _flat(options: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Returns {option: value}, nested options as `model.dim`."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        nested = isinstance(value, Mapping)
        found |= _flat(value, f"{path}{name}.") if nested else {f"{path}{name}": value}
    return found
