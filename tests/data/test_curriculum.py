"""The curriculum: when parts switch from easy to hard, and how its state goes on."""

import pytest

from extrap.data.curriculum import EVERY, Curriculum, Switches


def schooled(accuracies, steps=200, curriculum=None):
    switches = Switches(curriculum or Curriculum(latest=0.6), steps, ["retrieval"])
    for step, accuracy in enumerate(accuracies, 1):
        switches.update(step, {"retrieval": accuracy})
    return switches


def test_difficulty_is_0_then_rises_then_stays_1():
    rising = Curriculum(latest=0.5, ramp=0.2)
    found = [rising.difficulty(step, 40, 100) for step in (0, 39, 40, 50, 60, 99)]
    assert found == [0, 0, 0, 0.5, 1, 1]
    assert Curriculum(ramp=0.0).difficulty(40, 40, 100) == 1


def test_a_part_that_learns_switches_at_once():
    """0.9 of the past: 1 - 0.9**n reaches 0.95 at n = 29, seen at 30, in force ten steps later."""
    switches = schooled([1.0] * 100)
    assert switches.at("retrieval") == 30 + EVERY and switches.waiting == []


def test_a_part_that_does_not_learn_switches_at_the_latest():
    switches = schooled([0.94] * 119)
    assert switches.at("retrieval") == 120 and switches.waiting == ["retrieval"]


def test_only_a_part_that_was_learned_gives_weight_away():
    assert "retrieval" in schooled([1.0] * 100).decided
    assert "retrieval" not in schooled([0.94] * 119).decided
    assert [Curriculum(kept=0.25).weight(hard) for hard in (0.0, 0.5, 1.0)] == [1, 0.625, 0.25]


def test_nothing_is_waited_for_where_no_accuracy_is_given():
    switches = schooled([1.0] * 100, curriculum=Curriculum(accuracy=None, latest=0.1))
    assert switches.at("retrieval") == 20 and switches.waiting == []


def test_a_switch_is_never_later_than_the_latest():
    late = [0.0] * 85 + [1.0] * 34
    assert schooled(late).at("retrieval") == 120


@pytest.mark.parametrize("broken", [5, 29, 30, 35, 41])
def test_the_state_goes_on_where_it_stood(broken):
    accuracies = [min(1.0, 0.03 * step) for step in range(60)]
    whole = schooled(accuracies)
    resumed = Switches(Curriculum(latest=0.6), 200, ["retrieval"])
    resumed.load_state_dict(schooled(accuracies[:broken]).state_dict())
    for step, accuracy in enumerate(accuracies[broken:], broken + 1):
        resumed.update(step, {"retrieval": accuracy})
    assert resumed.state_dict() == whole.state_dict()
    assert whole.decided
