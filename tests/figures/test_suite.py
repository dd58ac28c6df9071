"""Figures of the evaluation suite: lines, bars and cells are the rows."""

from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from extrap import figures
from extrap.figures import depth_curves, length_generalisation, passkey, reciprocal_rank
from extrap.figures.context_gain import over_crop
from extrap.results.series import select, series
from extrap.results.stats.intervals import wilson
from extrap.results.together import labelled
from extrap.tasks.lost_in_the_middle import Query
from extrap.utils.errors import UserError
from tests.support.invented import suite_rows, suite_study
from tests.support.plausible import L

ALL = figures.available()


@pytest.fixture(scope="module")
def one(frame):
    """One seed of two trained schemes, one that is not trained past a table."""
    return frame([row for scheme in ("rope", "alibi", "learned") for row in suite_rows(scheme)])


@pytest.fixture(scope="module")
def several(frame):
    return frame(suite_study())


def drawn(name, rows):
    return ALL[name].draw(rows)


def line(panel, label):
    (found,) = (line for line in panel.lines if line.get_label() == label)
    return found


def by_title(figure):
    return {panel.get_title(): panel for panel in figure.axes if panel.get_title()}


RIGHT = {"metric": "accuracy"}
CURVES = [
    ("multidoc_depth", 5, RIGHT | {"protocol": "shuffled", "length": 256}, "depth"),
    ("lost_in_the_middle", 6, RIGHT | {"protocol": "both", "at": 140}, "depth"),
    ("context_gain", 0, {"metric": "gain", "protocol": "full"}, "length"),
    ("repeat_length", 0, RIGHT | {"protocol": "nonrepeated"}, "length"),
    ("repeat_length", 1, RIGHT | {"protocol": "later"}, "length"),
    ("reader_saturation", 0, RIGHT | {"protocol": "retrieved"}, "at"),
]
"""(figure, panel, rows of its line, what they are drawn over)."""


@pytest.mark.parametrize(("name", "panel", "where", "x"), CURVES)
def test_a_line_is_its_rows(one, name, panel, where, x):
    rows = select(one, scheme="rope", task=ALL[name].NEEDS["task"])
    rows = rows[(rows[list(where)] == pd.Series(where)).all(axis=1)].sort_values(x)
    found = line(drawn(name, one).axes[panel], "rope").get_xydata()
    assert len(found) > 1
    np.testing.assert_array_equal(found, rows[[x, "value"]].to_numpy(float))


def test_documents_are_counted_and_reference_lines_drawn(one):
    figure = drawn("multidoc_depth", one)
    assert figure.axes[2].get_title() == "4x (256 tokens, K = 63)"
    panel = figure.axes[5]
    for protocol in ("oracle", "closed_book"):
        value = select(one, task="multidoc", protocol=protocol, scheme="rope", metric="accuracy")[
            "value"
        ].item()
        assert set(line(panel, f"rope, {protocol}").get_ydata()) == {value}
    assert not [x for x in panel.lines if x.get_label().startswith("learned – below the gate,")]


def test_reference_lines_stand_in_the_panels_of_their_own_series(one):
    """One scheme is asked in one order, another in the other: neither has a line beside the other's
    curve.
    """
    own = {"rope": "ordered", "alibi": "shuffled"}
    other = one["protocol"].isin(own.values()) & (one["protocol"] != one["scheme"].map(own))
    figure = drawn("multidoc_depth", one[~other & one["scheme"].isin(own)])
    found = [{one.get_label() for one in panel.lines} for panel in figure.axes]
    for scheme in own:
        named = [f"{scheme}, oracle" in labels for labels in found]
        assert named == [scheme in labels for labels in found] and 0 < sum(named) < len(named)


def test_the_papers_format_has_a_panel_per_number_of_records(one):
    figure = drawn("lost_in_the_middle", one)
    titles = [panel.get_title() for panel in figure.axes[:4]]
    assert [title.split(" (")[0] for title in titles] == [
        "2 records",
        "75 records",
        "140 records",
        "300 records",
    ]
    assert titles[0] == "2 records (280 to 580 tokens)"
    assert set(line(figure.axes[2], "guess").get_ydata()) == {1 / 140}
    alone = one[(one["task"] != "lost-in-the-middle") | (one["at"] == 1)]
    assert not figures.served(ALL["lost_in_the_middle"], alone)


def test_every_form_of_the_papers_question_has_panels(one):
    """A form that the task asks and the figure does not know would be missing without a word."""
    asked = get_args(Query)
    assert set(asked) == set(depth_curves.QUERIES)
    last = select(one, task="lost-in-the-middle", protocol="last")
    first = last.assign(protocol="first", value=last["value"] / 2)
    figure = ALL["lost_in_the_middle"].draw(pd.concat([one, first]))
    assert len(figure.axes) == 4 * len(asked)


def test_passkeys_are_pooled_over_neighbouring_distances(one):
    panel = drawn("passkey", one).axes[-1]
    rows = select(
        one, task="haystack", protocol="passkey", metric="accuracy", scheme="alibi"
    ).sort_values("at")
    rows = rows[rows["length"] == rows["length"].max()]
    first = rows.iloc[: passkey.POOLED]
    found = line(panel, "alibi").get_xydata()
    assert len(found) == -(-len(rows) // passkey.POOLED)
    np.testing.assert_allclose(found[0, 0], np.exp(np.log(first["at"]).mean()))
    np.testing.assert_allclose(found[0, 1], first["value"].mean())
    low, high = wilson(first["value"].mean() * first["n"].sum(), first["n"].sum())
    pooled = passkey.pooled(rows).iloc[0]
    assert (pooled["low"], pooled["high"]) == (pytest.approx(low), pytest.approx(high))


def test_trained_lengths_are_read_off_the_gate(one):
    assert length_generalisation.trained(one) == dict.fromkeys(
        ("copy", "reverse", "even-pairs", "flip-flop"), 20
    )
    panels = by_title(drawn("length_generalisation", one))
    assert list(panels) == ["copy", "even-pairs", "flip-flop", "reverse"]
    (shade,) = panels["copy"].patches
    assert (shade.get_x(), shade.get_width()) == (0, 20)
    rows = select(
        one, task="algorithmic", protocol="reverse", metric="accuracy", scheme="rope"
    ).sort_values("at")
    rows = rows[rows["at"] <= 40]
    assert (
        line(panels["reverse"], "rope").get_xydata().tolist()
        == rows[["at", "value"]].to_numpy().tolist()
    )
    assert set(line(panels["even-pairs"], "chance").get_ydata()) == {0.5}


def test_ranks_are_over_tasks_and_untrained_lengths(several):
    far = select(several, task="algorithmic", metric="accuracy").assign(status="ok")
    far = far[far["at"] > 20]
    found = {s.label: s for s in series(far)}
    table = reciprocal_rank.ranks(found)
    assert table.shape == (3, 2)
    for seed in (0, 1):
        expected = {label: [] for label in found}
        for task in ("copy", "reverse", "even-pairs", "flip-flop"):
            here = (
                far[(far["protocol"] == task) & (far["seed"] == seed)]
                .groupby("scheme")["value"]
                .mean()
            )
            for label, value in here.items():
                better, same = (here > value).sum(), (here == value).sum()
                expected[label].append(1 / (better + (same + 1) / 2))
        assert table[seed].to_dict() == pytest.approx(
            {label: np.mean(ranks) for label, ranks in expected.items()}
        )
    (panel,) = drawn("reciprocal_rank", several).axes
    widths = [patch.get_width() for patch in panel.patches]
    assert widths == sorted(widths) == pytest.approx(sorted(table.mean(axis=1)))
    assert not figures.served(ALL["reciprocal_rank"], select(several, scheme="rope"))
    apart = several["protocol"].eq("copy") == several["scheme"].eq("rope")
    assert not figures.served(ALL["reciprocal_rank"], several[apart]), "no task of both"


def test_no_ranks_without_problems_longer_than_in_training(several):
    far = (several["task"] == "algorithmic") & (several["at"] > 20)
    with pytest.raises(UserError, match="no task has problems longer than in training"):
        drawn("reciprocal_rank", several[~far])


def test_equal_means_share_a_rank_whatever_their_last_bit():
    def scores(*values):
        return SimpleNamespace(rows=pd.DataFrame({"protocol": "copy", "seed": 0, "value": values}))

    up, down = (0.9, 0.905, 0.91), (0.91, 0.905, 0.9)
    assert np.mean(up) == pytest.approx(np.mean(down)) and sum(up) != sum(down)
    found = reciprocal_rank.ranks({"a": scores(*up), "b": scores(*down), "c": scores(0.1)})
    assert found[0].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])


def test_one_window_is_drawn_less_windows_of_the_training_length(one):
    (panel,) = drawn("loss_position", one).axes
    full, windowed = (
        select(one, task="nll-position", protocol=p, scheme="rope").set_index("at")["value"]
        for p in ("full", "windowed")
    )
    less = (full - windowed).sort_index()
    assert len(less) > 4
    found = line(panel, "rope").get_xydata()
    assert found[:, 0].tolist() == less.index.tolist()
    middle = [np.median(less.iloc[i - 1 : i + 2]) for i in range(1, len(less) - 1)]
    np.testing.assert_allclose(found[1:-1, 1], middle)
    names = [found.get_label() for found in panel.lines]
    assert "learned" not in names, "it reads no window longer than its table"


@pytest.mark.parametrize("name", ["passkey", "training_curves", "context_gain", "loss_position"])
def test_a_run_of_two_studies_has_a_line_for_each(one, demo, name):
    rows = demo if name == "training_curves" else one
    mine = rows[(rows["scheme"] == "rope") & (rows["data"] == "mixture")]
    theirs = mine.assign(study="theirs", value=0.99 * mine["value"])
    if name == "loss_position":
        theirs["length"] *= 2
    both = drawn(name, labelled(pd.concat([mine, theirs], ignore_index=True)))
    for label, part in (("rope-demo", mine), ("rope-theirs", theirs)):
        points, *_ = lines(drawn(name, part.assign(scheme=label)), label)
        beside = [found for found in lines(both, label) if found.shape == points.shape]
        assert any(np.allclose(points, found, equal_nan=True) for found in beside)


def lines(figure, label):
    """Returns the points of the curves of a series in all panels."""
    found = [line for panel in figure.axes for line in panel.lines if line.get_label() == label]
    return [np.array(line.get_xydata(), float) for line in found]


def test_two_readers_of_a_run_have_a_crop_each(one):
    rows = select(one, task="context-gain", metric="gain")
    other = rows.assign(extension="pi", factor=4.0, value=rows["value"] + 1)
    found = over_crop(pd.concat([rows, other]))
    alone, read = (found[found["extension"] == name] for name in ("direct", "pi"))
    assert len(alone) == len(over_crop(rows)) > 0
    np.testing.assert_allclose(read["value"], alone["value"])


def test_a_reader_whose_factor_follows_the_text_has_the_crop_of_its_run(one):
    """A crop is read with factor 1, whatever the whole context is read with."""
    rows = select(one, task="context-gain", metric="gain")
    factor = rows["multiple"].where(rows["protocol"] == "full", 1.0)
    adaptive = rows.assign(extension="yarn-dynamic", factor=factor)
    found = over_crop(adaptive)
    np.testing.assert_allclose(found["value"], over_crop(rows)["value"])
    assert found["multiple"].max() == 8


def test_a_window_of_another_length_under_an_extension_hides_no_plain_series(one):
    rows = select(one, task="nll-position", scheme="rope")
    further = rows.assign(extension="yarn", factor=16.0, length=2 * rows["length"])
    (panel,) = drawn("loss_position", pd.concat([rows, further])).axes
    assert {"rope", "rope + yarn x16"} <= {found.get_label() for found in panel.lines}


def test_a_reader_stands_beside_what_it_was_handed(one):
    (panel,) = drawn("reader_saturation", one).axes
    rows = select(one, task="multidoc", protocol="retrieved", scheme="rope").sort_values("at")
    assert line(panel, "handed over").get_ydata().tolist() == pytest.approx(
        rows[rows["metric"] == "handed"]["value"].tolist()
    )


def test_the_serial_curve_is_at_every_index(one):
    figure = drawn("kv_serial", one)
    assert [panel.get_title() for panel in figure.axes] == [
        "training length (64 tokens, records = 31)",
        "2x (128 tokens, records = 63)",
    ]
    rows = select(one, task="kv-serial", scheme="alibi", metric="accuracy")
    rows = rows[rows["length"] == 2 * L].sort_values("at")
    expected = np.c_[rows["at"] / 62, rows["value"]]
    np.testing.assert_array_equal(line(figure.axes[1], "alibi").get_xydata(), expected)
    assert set(line(figure.axes[1], "guess").get_ydata()) == {1 / 63} and len(rows) == 63
