"""The part of a large set of cases that a run tries. The part changes with the commit; `--all`
tries every case, `--fast` one case of every third test that is quick and starts no process.

A test marked `sample(n)` keeps n of its parameter sets. A test marked `turns`, which takes seconds,
runs at one commit in three, and where the file changed that it is named after: test_judge.py after
judge.py, or one of the names that the mark holds. A test marked `whole` runs under `--all` alone. A
test that loops over cases in its body asks `some`. Every run tries the cases named like a file or a
study that the branch changed (`changed`).
"""

import os
import random
import subprocess
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).parents[2]
SEED = "SAMPLE_SEED"
SLOW = {"slow", "subprocess", "turns", "whole"}
PARTS = {"all": False, "fast": False}
"""Options of the command line (tests/conftest.py)."""


def seed() -> str:
    """Returns $SAMPLE_SEED, or the commit that is checked out; workers inherit it."""
    if SEED not in os.environ:
        os.environ[SEED] = _git("rev-parse", "--short", "HEAD").strip() or "0"
    return os.environ[SEED]


def header() -> str:
    """Returns the line at the head of a run: how much it tries, and how to repeat it."""
    if PARTS["all"]:
        return "cases: all"
    part = "one of every third test" if PARTS["fast"] else "a sample"
    return f"cases: {part}; {SEED}={seed()} repeats it, --all tries every case"


@cache
def changed() -> frozenset[str]:
    """Returns the stems of the files, the names of their packages and of the studies that differ
    from the branch main or from the commit before; empty in a clone without history.
    """
    names: set[str] = set()
    for base in ("main", "origin/main", "HEAD^"):
        for line in _git("diff", "--name-only", "--merge-base", base).splitlines():
            path = PurePath(line)
            names.add(path.parts[1] if path.parts[0] == "results" else path.stem)
            if path.parts[0] == "extrap":
                names.add(path.parent.name)
    return frozenset(names)


def _git(*words: str) -> str:
    """Returns what git prints; nothing if it fails or there is none."""
    command = ["git", "-C", str(ROOT), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def some(cases: Iterable, n: int, key: str, always: Collection = ()) -> list:
    """Returns the cases in `always`, n of those that changed and n of the others, in the order
    given. Two loops draw differently by their keys.
    """
    cases = list(cases)
    new = [case for case in cases if case in changed() and case not in always]
    return _draw(cases, n, key, [case for case in cases if case in always], new)


def _draw(cases: list, n: int, key: str, needed: list, new: list) -> list:
    others = [case for case in cases if case not in needed and case not in new]
    if PARTS["all"] or len(others) + len(new) <= n:
        return cases
    rng = random.Random(f"{seed()} {key}")
    kept = [*needed, *rng.sample(new, min(n, len(new))), *rng.sample(others, min(n, len(others)))]
    return [case for case in cases if case in kept]


def choose(config: pytest.Config, items: list[pytest.Item], always: Collection[str]) -> None:
    """Deselects the items that this run does not try. always: parameters that every run tries."""
    if PARTS["all"] or any("::" in word for word in config.args):  # a person named it
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = {case for test, cases in tests.items() for case in _part(test, cases, always)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _part(test: str, cases: list[pytest.Item], always: Collection[str]) -> list[pytest.Item]:
    if PARTS["fast"]:
        cases = [case for case in cases if not SLOW & {*_marks(case)}]
        if not any(_on_turn(case) for case in cases[:1]):
            return []
        return _draw(cases, 1, test, [case for case in cases if _named(case, always)], [])
    cases = [c for c in cases if "whole" not in _marks(c) or _named(c, {*always, *changed()})]
    if cases and "turns" in _marks(cases[0]) and not _on_turn(cases[0]):
        return []
    marker = cases[0].get_closest_marker("sample") if cases else None
    if marker is None:
        return cases
    needed = [case for case in cases if _named(case, always)]
    new = [case for case in cases if _named(case, changed()) and case not in needed]
    return _draw(cases, marker.args[0], test, needed, new)


def _on_turn(item: pytest.Item) -> bool:
    """True if this is the commit of three of a test, or if what it is named after changed."""
    marker = item.get_closest_marker("turns")
    own = item.path.stem
    near = {own, own.removeprefix("test_"), *(marker.args if marker else ())}
    test = item.nodeid.split("[")[0]
    return bool(near & changed()) or not random.Random(f"{seed()} {test}").randrange(3)


def _marks(item: pytest.Item) -> list[str]:
    return [marker.name for marker in item.iter_markers()]


def _named(item: pytest.Item, names: Collection[str]) -> bool:
    """True if a parameter is one of the names."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(isinstance(value, str) and value in names for value in values)
