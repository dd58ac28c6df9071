"""The part of a large set of cases that a run tries. The part changes with the commit; `--all`
tries every case, `--fast` one case of each test that starts no process.

A test marked `sample(n)` keeps n of its parameter sets. A test marked `whole` runs under `--all`
alone. A test that loops over cases in its body asks `some`.
"""

import os
import random
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

SEED = "SAMPLE_SEED"
PARTS = {"all": False, "fast": False}
"""Options of the command line (tests/conftest.py)."""


def seed() -> str:
    """Returns $SAMPLE_SEED, or the commit that is checked out; workers inherit it."""
    if SEED not in os.environ:
        command = ["git", "rev-parse", "--short", "HEAD"]
        try:
            head = subprocess.run(
                command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
            )
            os.environ[SEED] = head.stdout.strip() or "0"
        except OSError:  # no git
            os.environ[SEED] = "0"
    return os.environ[SEED]


def header() -> str:
    """Returns the line at the head of a run: how much it tries, and how to repeat it."""
    if PARTS["all"]:
        return "cases: all"
    part = "one of each test" if PARTS["fast"] else "a sample"
    return f"cases: {part}; {SEED}={seed()} repeats it, --all tries every case"


def some(cases: Iterable, n: int, key: str, always: Collection = ()) -> list:
    """Returns the cases in `always` and n of the others, in the order given. Two loops draw
    differently by their keys.
    """
    cases = list(cases)
    others = [case for case in cases if case not in always]
    if PARTS["all"] or len(others) <= n:
        return cases
    drawn = random.Random(f"{seed()} {key}").sample(others, n)
    return [case for case in cases if case in always or case in drawn]


def choose(config: pytest.Config, items: list[pytest.Item], always: Collection[str]) -> None:
    """Deselects the items that this run does not try. always: parameters that every run tries."""
    if PARTS["all"]:
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = {case for test, cases in tests.items() for case in _part(test, cases, always)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _part(test: str, cases: list[pytest.Item], always: Collection[str]) -> list[pytest.Item]:
    marker = cases[0].get_closest_marker("sample")
    n = marker.args[0] if marker else len(cases)
    if PARTS["fast"]:
        n = 1
        cases = [case for case in cases if not {"slow", "subprocess"} & {*_marks(case)}]
    else:
        cases = [case for case in cases if "whole" not in _marks(case)]
    needed = [case for case in cases if _parameters(case) & set(always)]
    return some(cases, n, test, needed)


def _marks(item: pytest.Item) -> list[str]:
    return [marker.name for marker in item.iter_markers()]


def _parameters(item: pytest.Item) -> set[str]:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return {value for value in values if isinstance(value, str)}
