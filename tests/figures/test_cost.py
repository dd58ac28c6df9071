"""Figures of what schemes and fine-tuning cost."""

import itertools

import numpy as np
import pytest

from extrap import figures
from extrap.figures import speed
from extrap.results.series import select
from extrap.studies.extension.figures import passkey_tuning, tuning
from extrap.studies.tasks.figures import query_tuned
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


def test_k_max_of_another_scheme_or_another_way_of_tuning_is_in_no_line(frame):
    rows = list(passkey_rows())
    fewer = [row for row in rows if "yarn" not in row["scheme"] + row["extension"]]
    other = [
        row | {name: row[name].replace("rope", "alibi") for name in ("scheme", "run")} | better
        for row in fewer
        if "steps" not in row["scheme"]
        for better in ({"value": 1.0} if row["metric"] == "k_max" else {},)
    ]
    lora = [
        row | {name: row[name].replace("-full-", "-lora-") for name in ("scheme", "run")}
        for row in fewer
        if "full-pi-x8" in row["scheme"]
    ]

    def drawn(rows):
        lines = passkey_tuning.draw(frame(rows)).axes[0].lines
        return {line.get_label(): line.get_xydata().tolist() for line in lines}

    assert other and lora and drawn([*rows, *other, *lora]) == drawn(rows)


def test_every_tuned_model_is_asked_as_it_was_tuned(frame):
    rows = frame(query_rows())
    figure = query_tuned.draw(rows)
    assert [panel.get_ylabel().split("\n")[0] for panel in figure.axes[::3]] == ["alibi", "rope"]
    drawn = {line.get_label(): line.get_xydata() for line in figure.axes[1].lines}

    def curve(label, form):
        here = select(rows, task="kv-query", protocol=form, metric="accuracy", scheme=label)
        return here[here["length"] == 2 * L].set_index("depth")["value"].sort_index()

    tuned = curve("alibi-full-steps-1000-query-first-direct-x1", "first")
    less = tuned - curve("alibi", "last")
    np.testing.assert_allclose(drawn["tuned: query first"], np.c_[less.index, less])
    assert set(drawn) == {"base", *(name for name, _ in query_tuned.LINES.values())}
    untuned = [row for row in query_rows() if "full" not in row["scheme"]]
    assert not figures.served(query_tuned, frame(untuned))


def test_no_seed_is_left_out_for_missing_its_gate_and_the_note_counts_them(frame):
    lost = {"status": "not trained"}
    rows = [
        row | (lost if (row["scheme"], row["seed"]) == ("rope", 1) else {})
        for row in query_rows(("rope",), (0, 1, 2))
    ]
    failed, passed = (
        query_tuned.draw(frame(some)) for some in (rows, query_rows(("rope",), (0, 1, 2)))
    )
    for one, other in zip(failed.axes[0].lines, passed.axes[0].lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    said = [" ".join(text.get_text().split()) for text in failed.texts]
    assert any("below the gate, in all means: rope base 1" in words for words in said)


def tuned_rows(parent, protocol, metric, method="pi"):
    """A run of `parent` tuned with a method for 4 times its length: ten steps of one part."""
    identity = {name: run_rows("rope")[0][name] for name in IDENTITY}
    name = f"{parent}-full-{method}-x4"
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
            | {"scheme": name, "run": f"{name}-cafe0123-s0", "extension": method, "factor": 4.0}
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


def test_what_is_drawn_of_one_scheme_is_drawn_of_the_one_with_most_methods(frame):
    alibi = tuned_rows("alibi", "repeat", "accuracy")
    rope = (tuned_rows("rope", "repeat", "accuracy", method) for method in ("pi", "ntk"))
    figure = tuning.draw(frame([*alibi, *itertools.chain(*rope)]))
    assert figure.texts[0].get_text().startswith("Fine-tuning of rope at 4 times")
