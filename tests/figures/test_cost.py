"""Figures of what schemes and fine-tuning cost."""

import pytest

from extrap import figures
from extrap.figures import passkey_tuning, query_tuned, speed, tuning
from extrap.results.series import select
from tests.support.plausible import L, run_rows
from tests.support.plausible_costs import passkey_rows, query_rows, speed_rows
from tests.support.plausible_suite import IDENTITY


def test_bars_are_thousand_tokens_a_second(frame):
    rows = frame(speed_rows(("rope", "learned")))
    figure = speed.draw(rows)
    assert [panel.get_title(loc="left") for panel in figure.axes[::3]] == [
        f"windows of {L} tokens",
        f"windows of {4 * L} tokens",
    ]
    training, reading, memory = (
        {p.get_label(): p[0].get_width() for p in panel.containers} for panel in figure.axes[:3]
    )
    assert training == pytest.approx({"rope": 1e3 / L, "learned": 5e2 / L})
    assert reading == pytest.approx({"rope": 4e3 / L, "learned": 2e3 / L}) and memory == {
        "rope": 13,
        "learned": 26,
    }
    repeats = sorted(list(line.get_xdata()) for line in figure.axes[0].lines)
    assert repeats == [
        pytest.approx([0.9 * value, 1.2 * value]) for value in sorted(training.values())
    ]
    assert len(figure.axes[3].containers) == 1, "a length past a table has no bar"


def test_bars_of_several_seeds_are_their_means(frame):
    panel = speed.draw(frame(speed_rows(("rope",), (0, 2)))).axes[0]
    assert (
        panel.containers[0][0].get_width() == pytest.approx((1e6 / L + 1) / 1000)
        and not panel.lines
    )


def test_k_max_stands_at_the_steps_of_tuning(frame):
    panel = passkey_tuning.draw(frame(passkey_rows())).axes[0]
    curves = {line.get_label(): line.get_xydata().tolist() for line in panel.lines}
    assert curves["pi"] == [[0, 10.5], [50, 110.5], [100, 210.5]] and curves["yarn"] == [
        [0, 200.5],
        [50, 300.5],
        [100, 400.5],
    ]
    assert curves["furthest"][0][1] == 8 * L - 2
    assert not figures.served(
        passkey_tuning,
        frame([row for row in passkey_rows() if "full" not in row["scheme"]] + run_rows("rope")),
    )


def test_every_tuned_model_is_asked_as_it_was_tuned(frame):
    rows = frame(query_rows())
    figure = query_tuned.draw(rows)
    assert [panel.get_ylabel().split("\n")[0] for panel in figure.axes[::3]] == ["alibi", "rope"]
    drawn = {line.get_label(): line.get_xydata().tolist() for line in figure.axes[1].lines}
    for name, label, form in (
        ("base, query last", "alibi", "last"),
        ("tuned: query first", "alibi-full-steps-1000-query-first-direct-x1", "first"),
    ):
        here = select(rows, task="kv-query", protocol=form, metric="accuracy", scheme=label)
        here = here[here["length"] == 2 * L].sort_values("depth")
        assert drawn[name] == here[["depth", "value"]].to_numpy().tolist()
    assert len(drawn) == 4 and not [label for label in drawn if "below the gate" in label]
    untuned = [row for row in query_rows() if "full" not in row["scheme"]]
    assert not figures.served(query_tuned, frame(untuned))


def test_a_tuned_run_that_fails_its_own_gate_is_said_to(frame):
    failed = [
        row | ({"status": "not trained"} if "query-first" in row["scheme"] else {})
        for row in query_rows(("rope",))
    ]
    labels = {line.get_label() for line in query_tuned.draw(frame(failed)).axes[0].lines}
    assert "tuned: query first – below the gate" in labels and "tuned: first and last" in labels


def test_seeds_that_fail_are_left_out_and_counted(frame):
    lost = {"status": "not trained"}
    rows = [
        row | (lost if (row["scheme"], row["seed"]) == ("rope", 1) else {})
        for row in query_rows(("rope",), (0, 1, 2))
    ]
    lines = {
        line.get_label(): line.get_xydata() for line in query_tuned.draw(frame(rows)).axes[0].lines
    }
    alone = query_tuned.draw(frame([row for row in rows if row["seed"] != 1])).axes[0].lines
    expected = next(line for line in alone if line.get_label() == "base, query last").get_xydata()
    assert (
        lines["base, query last (2 of 3 seeds)"].tolist() == expected.tolist()
        and "tuned: query last" in lines
    )


def tuned_rows(parent, protocol, metric):
    """A run of `parent` tuned with PI for 4 times its length: ten steps of one part of the data."""
    identity = {name: run_rows("rope")[0][name] for name in IDENTITY}
    name = f"{parent}-full-pi-x4"
    for step in range(10):
        where = {
            "task": "train",
            "protocol": protocol,
            "metric": metric,
            "axis": "step",
            "at": step,
            "value": step / 10,
            "status": "ok",
        }
        yield (
            identity
            | {"scheme": name, "run": f"{name}-cafe0123-s0", "extension": "pi", "factor": 4.0}
            | where
        )


def test_tuning_is_drawn_for_what_was_tuned_on_and_one_scheme(frame):
    copies = list(tuned_rows("alibi", "repeat", "accuracy"))
    figure = tuning.draw(frame([*copies, *tuned_rows("rope", "text", "nll")]))
    (panel,) = figure.axes
    assert panel.get_ylabel() == "repeat: accuracy in training" and figure.texts[
        0
    ].get_text().startswith("Fine-tuning of alibi at 4 times")
    assert panel.lines[0].get_xydata().tolist() == [[row["at"], row["value"]] for row in copies]
    both = tuning.draw(frame([*copies, *tuned_rows("alibi", "text", "nll")]))
    assert [p.get_ylabel() for p in both.axes] == [
        "text: loss (nats per token)",
        "repeat: accuracy in training",
    ]
