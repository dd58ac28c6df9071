"""Figures: they draw what the rows say, leave out what is missing, mark what did not train, and are
the same bytes when redrawn.
"""

import random

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from extrap import figures
from extrap.figures import training_curves
from extrap.figures.drawing.palette import BELOW_GATE
from extrap.results.series import select
from extrap.utils.errors import UserError
from tests.support import plausible
from tests.support.discover import PLUGINS
from tests.support.plausible import L, run_rows

ALL = figures.available(plugins=PLUGINS)


@pytest.fixture(scope="module")
def drawn(demo):
    """Every figure of the demo rows, by name."""
    return {name: figure.draw(demo) for name, figure in ALL.items() if figures.served(figure, demo)}


def lines(panel):
    """{label: [(x, y), ...]} of the data lines of a panel."""
    return {line.get_label(): line.get_xydata().tolist() for line in panel.lines}


def written(figure):
    return [text.get_text() for panel in figure.axes for text in panel.texts] + [
        panel.get_title() for panel in figure.axes
    ]


def titled(figure, words):
    (panel,) = (panel for panel in figure.axes if panel.get_title() == words)
    return panel


def test_the_folder_is_the_registry():
    assert set(ALL) >= {"kv_depth", "kv_heatmap", "loss_length", "training_curves"}
    assert all(1 < len(figures.caption(figure)) < 120 for figure in ALL.values())


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ALL)
def test_redrawing_gives_the_same_bytes_whatever_the_users_settings(name, serving):
    import matplotlib

    small = serving(name)
    first = figures.render(ALL[name], small)
    with matplotlib.rc_context(
        {"lines.linewidth": 9, "font.size": 30, "svg.hashsalt": "other", "savefig.dpi": 30}
    ):
        assert figures.render(ALL[name], small.sample(frac=1, random_state=0)) == first
    assert first["svg"].startswith(b"<?xml")
    assert b"<dc:date>" not in first["svg"]
    assert first["png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ALL)
def test_missing_rows_are_no_figure(name, serving):
    rows, figure = serving(name), ALL[name]
    for column, value in figure.NEEDS.items():
        if column in rows:
            assert figures.render(figure, rows[rows[column] != value]) is None


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", ALL)
def test_corpora_are_not_mixed(name, serving):
    rows = serving(name).copy()
    drawn = random.Random(0)
    rows["corpus"] = [drawn.choice(["0123456789ab", "ba9876543210"]) for _ in range(len(rows))]
    with pytest.raises(UserError, match="different corpora"):
        ALL[name].draw(rows)


def test_loss_is_drawn_as_perplexity(demo, drawn):
    figure = drawn["loss_length"]
    panel = titled(figure, "sliding window")
    rows = select(demo, task="nll", protocol="sliding", scheme="alibi", data="mixture").sort_values(
        "length"
    )
    np.testing.assert_allclose(lines(panel)["alibi"], np.c_[rows["length"], np.exp(rows["value"])])
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert lines(panel)["training length"] == [[L, 0], [L, 1]]
    assert len({panel.get_ylim() for panel in figure.axes}) == 1


def test_an_axis_of_perplexity_ends_at_lines_and_not_at_intervals(demo):
    wide = demo.assign(high=demo["high"].mask(demo["metric"] == "nll", demo["value"] + 9))
    for rows, least in ((demo, 1.0), (wide, 2.0)):
        panel = ALL["loss_length"].draw(rows).axes[0]
        ends = [line.get_ydata()[-1] for line in panel.lines if "L" not in line.get_label()]
        assert least < panel.get_ylim()[1] / max(ends[:-1]) <= 3.01


def test_a_run_is_drawn_only_for_what_it_was_trained_on(drawn):
    loss, retrieval = written(drawn["loss_length"]), written(drawn["kv_depth"])
    assert "rope (text only)" in loss
    assert not [label for label in loss if "retrieval only" in label]
    assert "rope (retrieval only)" in retrieval
    assert not [label for label in retrieval if "text only" in label]


def test_u_curves_are_the_rows(demo, drawn):
    figure = drawn["kv_depth"]
    assert [p.get_title() for p in figure.axes[:4]] == [
        "training length (64 tokens)",
        "2x (128 tokens)",
        "4x (256 tokens)",
        "8x (512 tokens)",
    ]
    assert len(figure.axes) == 8
    for panel, protocol in ((figure.axes[2], "records"), (figure.axes[6], "padded")):
        rows = select(
            demo, task="kv", metric="accuracy", protocol=protocol, scheme="t5", data="mixture"
        )
        rows = rows[rows["length"] == 256].sort_values("depth")
        assert lines(panel)["t5"] == rows[["depth", "value"]].to_numpy().tolist()
        assert lines(panel)["chance"][0][1] == 1 / 64
        assert lines(panel)["guess"][0][1] == 1 / (127 if protocol == "records" else 8)
        bars = [segment for bar in panel.collections for segment in bar.get_segments()]
        low, high = rows[["low", "high"]].iloc[3]
        assert [[0.5, pytest.approx(low)], [0.5, pytest.approx(high)]] in [
            bar.tolist() for bar in bars
        ]


def test_runs_below_the_gate_are_grey_hollow_and_named(drawn):
    figure = drawn["kv_depth"]
    marked = [
        line for panel in figure.axes for line in panel.lines if line.get_label().startswith("nope")
    ]
    assert {line.get_label() for line in marked} == {"nope – below the gate"}
    assert {line.get_color() for line in marked} == {BELOW_GATE}
    assert {line.get_markerfacecolor() for line in marked} == {"white"}
    assert "learned – below the gate (to 64)" in written(figure)
    (panel,) = (p for p in drawn["training_curves"].axes if "retrieval" in p.get_title())
    assert {"nope – below the gate", "rope"} <= set(lines(panel))
    assert "nope" not in lines(panel)


def test_every_seed_is_a_thin_line_and_the_mean_loss_a_thick_one(frame):
    rows = frame([row for seed in (0, 1, 5) for row in run_rows("rope", seed)])
    panel = ALL["loss_length"].draw(rows).axes[0]
    thin = [line for line in panel.lines if line.get_label() == "_seed"]
    (thick,) = (line for line in panel.lines if line.get_label() == "rope")
    assert len(thin) == 3
    np.testing.assert_allclose(
        np.log(thick.get_ydata()), np.log([line.get_ydata() for line in thin]).mean(axis=0)
    )
    assert thick.get_linewidth() > 2 * thin[0].get_linewidth()


def test_heat_map_cells_are_the_rows(demo, drawn):
    figure = drawn["kv_heatmap"]
    panel = titled(figure, "t5 · padded")
    (mesh,) = (c for c in panel.collections if isinstance(c, QuadMesh))
    rows = select(demo, task="kv", metric="accuracy", protocol="padded", scheme="t5")
    np.testing.assert_array_equal(
        mesh.get_array(), rows.pivot(index="depth", columns="length", values="value")
    )
    assert [t.get_text() for t in panel.get_xticklabels()] == [
        "64",
        "80",
        "96",
        "128",
        "256",
        "512",
    ]
    assert panel.get_ylim() == (7, 0)
    untrained = titled(figure, "learned – below the gate · records")
    (mesh,) = (c for c in untrained.collections if isinstance(c, QuadMesh))
    assert mesh.get_array().mask[:, 1:].all()
    assert [patch.get_hatch() for patch in untrained.patches] == ["////"]
    assert not panel.patches


def test_curves_of_equal_distance_cross_the_right_cells(drawn):
    curves = lines(titled(drawn["kv_heatmap"], "rope · records"))
    lengths, depths = (64, 80, 96, 128, 256, 512), plausible.DEPTHS
    for multiple, length, depth in ((1, 128, 0.5), (1, 256, 0.75), (2, 256, 0.5), (4, 512, 0.5)):
        x, y = np.transpose(curves[f"{multiple * L} tokens to the query"])
        assert np.interp(lengths.index(length) + 0.5, x, y) == pytest.approx(
            depths.index(depth) + 0.5, abs=0.05
        )
    assert curves["training length"] == [[1, 0], [1, 1]]


def test_other_parts_of_training_have_panels_of_their_own(frame):
    learned = [
        row for row in run_rows("rope") if row["task"] == "train" and row["metric"] == "accuracy"
    ]
    rows = frame(
        [
            row | {"protocol": name, "value": row["value"] / 2}
            for name in ("reverse", "copy", "even-pairs")
            for row in learned
        ]
    )
    figure = training_curves.draw(rows)
    assert [p.get_title() for p in figure.axes] == [
        f"{name}: accuracy in training" for name in ("copy", "even-pairs", "reverse")
    ]
    expected = [[row["at"], row["value"] / 2] for row in learned]
    assert all(lines(p) == {"rope": expected} for p in figure.axes), (
        "no gate: theirs may lie elsewhere"
    )


def test_training_curves_are_the_rows(demo, drawn):
    text, retrieval = drawn["training_curves"].axes
    rows = select(demo, task="train", protocol="text", scheme="t5")
    assert lines(text)["t5"] == rows[["at", "value"]].to_numpy().tolist()
    assert "gate" not in lines(retrieval), "the gate has other questions than training"


def test_a_training_curve_belongs_to_its_run_not_to_an_extension(frame):
    rows = frame(run_rows("rope") + run_rows("rope", extension="ntk", factor=4))
    assert [
        label for label in lines(training_curves.draw(rows).axes[0]) if label.startswith("rope")
    ] == ["rope"]
