"""The part of the cases that a run tries: repeatable, different for another commit, complete if
asked.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import sample


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "PARTS", {"all": False, "fast": False})
    monkeypatch.setattr(sample, "changed", frozenset)
    monkeypatch.setenv(sample.SEED, "abc1234")


class Item(SimpleNamespace):
    __hash__ = object.__hash__


def items(test: str, n: int, *marks: pytest.MarkDecorator) -> list:
    """n cases of one test; its parameters are the words 0, 1, ..."""
    by_name = {decorator.mark.name: decorator.mark for decorator in marks}
    return [
        Item(
            nodeid=f"{test}[{i}]",
            path=Path("tests/test_it.py"),
            callspec=SimpleNamespace(params={"name": str(i)}),
            iter_markers=by_name.values,
            get_closest_marker=by_name.get,
        )
        for i in range(n)
    ]


def chosen(cases: list, always: tuple[str, ...] = ()) -> list[str]:
    kept = list(cases)
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    sample.choose(SimpleNamespace(hook=hook, args=["tests"]), kept, always)
    return [case.nodeid for case in kept]


def test_a_sample_is_that_of_its_seed_and_holds_what_is_needed(monkeypatch) -> None:
    cases = items("a", 50, pytest.mark.sample(5))
    once = chosen(cases)
    assert len(once) == 5
    assert chosen(cases) == once
    assert {"a[3]", "a[4]"} <= set(chosen(cases, ("3", "4")))
    assert len(chosen(items("b", 8))) == 8
    monkeypatch.setenv(sample.SEED, "0000000")
    assert chosen(cases) != once


def test_what_changed_is_in_every_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "changed", lambda: frozenset({"7"}))
    assert "a[7]" in chosen(items("a", 50, pytest.mark.sample(5)))
    assert chosen(items("a", 9, pytest.mark.whole)) == ["a[7]"]
    assert "7" in sample.some("0123456789", 1, "key")


def test_one_in_three_is_on_its_turn_with_all_cases_or_where_its_name_changed(monkeypatch) -> None:
    turns = pytest.mark.turns("rows")
    cases = [case for i in range(60) for case in items(f"test{i}", 4, turns)]
    ran = [name.partition("[")[0] for name in chosen(cases)]
    assert 10 < len(set(ran)) < 30 and len(ran) == 4 * len(set(ran))
    for name in ("test_it", "it", "rows"):
        monkeypatch.setattr(sample, "changed", lambda name=name: frozenset({name}))
        assert len(chosen(cases)) == 240


def test_whole_tests_and_every_case_under_all(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [*items("a", 9, pytest.mark.sample(2)), *items("b", 1, pytest.mark.whole)]
    assert len(chosen(cases)) == 2
    monkeypatch.setitem(sample.PARTS, "all", True)
    assert len(chosen(cases)) == 10
    assert sample.some(range(9), 1, "key") == list(range(9))


def test_fast_is_one_case_of_a_third_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sample.PARTS, "fast", True)
    cases = [case for i in range(60) for case in items(f"test{i}", 4)]
    slow = [*items("a", 9, pytest.mark.turns), *items("b", 3, pytest.mark.subprocess)]
    ran = [name.partition("[")[0] for name in chosen([*cases, *slow])]
    assert 10 < len(ran) == len(set(ran)) < 30
