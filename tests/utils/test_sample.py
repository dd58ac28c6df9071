"""The part of the cases that a run tries: repeatable, different for another commit, complete if
asked.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import sample

CHANGED = sample.changed


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
    kept, left_out = list(cases), []

    def deselected(items: list) -> None:
        left_out.extend(items)

    hook = SimpleNamespace(pytest_deselected=deselected)
    sample.choose(SimpleNamespace(hook=hook, args=["tests"]), kept, always)
    assert len(kept) + len(left_out) == len(cases)
    return [case.nodeid for case in kept]


def test_a_sample_is_that_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = items("a", 50, pytest.mark.sample(5))
    once = chosen(cases)
    assert len(once) == 5
    assert chosen(cases) == once
    monkeypatch.setenv(sample.SEED, "0000000")
    assert chosen(cases) != once


def test_what_is_not_marked_stays_and_what_is_needed_is_in_every_sample() -> None:
    few = items("b", 50, pytest.mark.sample(5))
    assert chosen([*items("a", 8), *few], ("3", "4"))[:8] == [f"a[{i}]" for i in range(8)]
    assert {"b[3]", "b[4]"} <= set(chosen(few, ("3", "4")))
    assert sample.some("abcdef", 1, "key", "bd").count("b") == 1


def test_what_changed_is_in_every_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "changed", lambda: frozenset({"7"}))
    assert "a[7]" in chosen(items("a", 50, pytest.mark.sample(5)))
    assert chosen(items("a", 9, pytest.mark.whole)) == ["a[7]"]
    assert "7" in sample.some("0123456789", 1, "key")


def test_a_clone_without_history_has_changed_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sample, "ROOT", tmp_path)
    monkeypatch.setattr(sample, "changed", CHANGED.__wrapped__)
    assert sample.changed() == frozenset()
    monkeypatch.delenv(sample.SEED)
    assert sample.seed() == "0"


def test_a_test_that_takes_turns_runs_at_some_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    for commit in range(60):
        monkeypatch.setenv(sample.SEED, str(commit))
        ran += chosen(items("a", 1, pytest.mark.turns))
    assert 10 < len(ran) < 30
    monkeypatch.setattr(sample, "changed", lambda: frozenset({"test_it"}))
    assert chosen(items("a", 1, pytest.mark.turns))


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
    monkeypatch.setattr(sample, "changed", lambda: frozenset({"test_it"}))
    assert len(chosen([*cases, *slow])) == 60
