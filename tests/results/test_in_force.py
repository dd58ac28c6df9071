"""The frequencies in force, from rows whose frequencies are known."""

import pandas as pd
import pytest

from extrap.results.in_force import in_force, share_words
from extrap.studies.extension.methods import in_force_note

TRAINED = [1.0, 0.1, 0.01]


def used(extension, factor, theta, lengths=(64,), seed=0, layers=None, trained_layers=None):
    where = {
        "study": "s", "scheme": "rope", "data": "mixture", "extension": extension, "seed": seed,
        "factor": factor, "run": f"rope-0-s{seed}", "train_length": 64, "task": "used",
        "metric": "theta", "axis": "pair", "status": "ok", "corpus": "x", "config": extension,
    }  # fmt: skip
    out = []
    for protocol, values, ns, each in (
        ("trained", dict.fromkeys(trained_layers or [None], TRAINED), (64,), trained_layers),
        ("used", theta if layers else {None: theta}, lengths, layers),
    ):
        for layer in each or [None]:
            for length in ns:
                out += [
                    where | {"protocol": protocol, "layer": layer, "length": length, "at": float(p),
                             "value": value}
                    for p, value in enumerate(values[layer])
                ]  # fmt: skip
    return out


def frame(rows):
    return pd.DataFrame(rows)


def test_models_of_several_settings_have_lines_of_their_own():
    other = [row | {"run": "rope-1-s0"} for row in used("ntk", 8.0, [1.0, 0.1, 0.00125])]
    found = in_force(frame(used("ntk", 8.0, [1.0, 0.05, 0.00125]) + other))
    assert [*found.index.get_level_values("scheme")] == ["rope [0]", "rope [1]"]
    assert [*found["pairs"]] == [3, 3] and [*found["changed"]] == [2, 1]


def test_pairs_that_turn_otherwise_are_counted_and_the_slowest_told():
    rows = used("ntk", 8.0, [1.0, 0.05, 0.00125]) + used("rerope", 1.0, TRAINED)
    rows += used("ntk", 8.0, [1.0, 0.05, 0.00125], seed=1)
    found = in_force(frame(rows))
    ntk = found.loc["rope", "mixture", "ntk", 8.0]
    assert (ntk["pairs"], ntk["changed"], ntk["fastest"]) == (3, 2, 1)
    assert ntk["slowest"] == pytest.approx(1 / 8) and ntk["layers"] == ""
    plain = found.loc["rope", "mixture", "rerope", 1.0]
    assert (plain["changed"], plain["slowest"]) == (0, 1)


def test_a_factor_that_follows_the_length_is_beside_the_pairs_of_training():
    """The rows as trained have the factor of the training length alone."""
    rows = used("ntk-dynamic", 1.0, TRAINED)
    rows += [
        one | {"factor": 8.0}
        for one in used("ntk-dynamic", 8.0, [1.0, 0.05, 0.00125], lengths=(512,))
        if one["protocol"] == "used"
    ]
    found = in_force(frame(rows)).loc["rope", "mixture", "ntk-dynamic"]
    assert found["changed"].tolist() == [0, 2]
    assert found["slowest"].tolist() == pytest.approx([1, 1 / 8])


def test_what_has_no_frequencies_of_its_own_has_no_line():
    """Those of Ms-PoE are of each text."""
    rows = [one for one in used("ms-poe", 1.0, TRAINED) if one["protocol"] == "trained"]
    rows += used("ntk", 8.0, TRAINED)
    assert [key[2] for key in in_force(frame(rows)).index] == ["ntk"]
    assert "ms-poe" not in in_force_note(frame(rows), ["ms-poe", "ntk"])


def test_a_mixed_stack_names_the_layers_that_were_changed():
    slow = [theta / 4 for theta in TRAINED]
    rows = used("pi", 4.0, {0: TRAINED, 3: slow}, layers=[0, 3])
    for told in (
        rows,
        used("pi", 4.0, {0: TRAINED, 3: slow}, layers=[0, 3], trained_layers=[0, 3]),
    ):
        (one,) = in_force(frame(told)).itertuples()
        assert (one.pairs, one.changed, one.layers) == (6, 3, "3")
        assert one.slowest == pytest.approx(1 / 4)


def test_an_adaptive_method_counts_what_it_changes_at_some_length():
    rows = used("ntk-dynamic", 1.0, TRAINED, lengths=(64,))
    rows += [r | {"length": 256, "value": r["value"] / 2} for r in rows if r["protocol"] == "used"]
    (one,) = in_force(frame(rows)).itertuples()
    assert (one.pairs, one.changed, one.slowest) == (3, 3, 0.5)


def test_the_note_groups_methods_by_what_is_left_of_the_slowest_pair():
    rows = used("ntk", 8.0, [1.0, 0.05, 0.00125]) + used("pi", 8.0, [t / 8 for t in TRAINED])
    rows += used("rerope", 1.0, TRAINED)
    assert in_force_note(frame(rows), ["direct", "ntk", "pi", "rerope", "crop"]) == (
        " · slowest pair in force: 1 in rerope; 1/8 as trained in ntk, pi"
    )
    assert in_force_note(frame(rows), ["pi"]) == " · slowest pair in force: 1/8 as trained in pi"
    nothing = frame(rows).assign(task="nll")
    assert in_force_note(nothing, ["pi"]) == "" and in_force(nothing).empty


@pytest.mark.parametrize(("share", "said"), [(1, "1"), (0.125, "1/8"), (0, "0"), (1.5, "x1.5")])
def test_shares_in_words(share, said):
    assert share_words(share) == said
