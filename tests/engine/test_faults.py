"""Eight faults of engines that serve a model with scaled rotations: task=parity finds each, and
none in the engine that is right.
"""

import re

import numpy as np
import pytest

import extrap
from extrap.tasks.parity import EngineParity, _record
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from tests.support.engine_server import Serving, serving

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
YARN |= {"attention_factor": 1.6, "rope_theta": 1000.0}
PLAIN = {"rope_type": "default", "rope_theta": 100.0}
LAYERS = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 24}
SAID = re.compile(r"parts from its model from (\d+) tokens on, most at depth ([\d.]+) of (\w+)")


def gemma(place, full=YARN, windows=PLAIN):
    ropes = {"full_attention": full, "sliding_attention": windows}
    return place.model("gemma3", rope_parameters=ropes, **LAYERS)


def smol(place, turned):
    return place.model("smollm3", no_rope_layers=turned, pad_token_id=0, rope_parameters=PLAIN)


def without(options, *names):
    return {name: value for name, value in options.items() if name not in names}


GEMMA = {
    "right": lambda place: Serving(gemma(place)),
    "factor dropped": lambda place: Serving(
        gemma(place, PLAIN | {"rope_theta": 1000.0}),
    ),
    "attention_factor dropped": lambda place: Serving(
        gemma(place, without(YARN, "attention_factor"))
    ),
    "YaRN on windows": lambda place: Serving(gemma(place, YARN, YARN | {"rope_theta": 100.0})),
    "wrong base in windows": lambda place: Serving(gemma(place, YARN, PLAIN | {"rope_theta": 1e3})),
    "BOS twice": lambda place: Serving(gemma(place), change=lambda ids: [0, *ids]),
    "prompt cut": lambda place: Serving(gemma(place), change=lambda ids: ids[-96:]),
    "cache off by one": lambda place: Serving(gemma(place), shift=-1),
}


def said(place, server, reference):
    more = "task.parity.documents=2", "task.parity.trials=2"
    asked = {"tasks": "parity", "reference": reference, "multiples": [0.25, 1]}
    with serving(server) as url, pytest.warns(UserWarning, match=r"task\.parity") as found:
        rows = extrap.evaluate(url, *place.WORDS, *more, **asked)
    assert set(rows["status"]) == {"ok"}
    return rows, str(found[0].message)


@pytest.mark.turns
@pytest.mark.parametrize("fault", GEMMA)
def test_each_fault_is_found_and_the_right_engine_agrees(place, fault):
    reference = place.saved(gemma(place))
    rows, line = said(place, GEMMA[fault](place), reference)
    parted = SAID.search(line)
    if fault.startswith("right"):
        assert "agree, to" in line and "from" not in set(rows["metric"])
        assert rows.loc[rows["metric"] == "apart", "value"].max() < 1e-4
        assert set(rows.loc[rows["metric"] == "same", "value"]) == {1.0}
        return
    assert parted is not None, line
    # 96 tokens hold the shorter text whole
    assert int(parted[1]) == {"prompt cut": 128}.get(fault, 32)
    if fault == "prompt cut":
        assert float(parted[2]) < 0.3 and parted[3] == "text"
    if fault == "cache off by one":  # the prompt itself is read right
        texts = rows[(rows["protocol"] == "text") & (rows["metric"] == "apart")]
        assert texts["value"].max() < 1e-4 and parted[3] == "records"


def test_layers_without_positions_that_an_engine_turns_are_found(place):
    reference = place.saved(smol(place, [1, 0]))
    assert "agree, to" in said(place, Serving(smol(place, [1, 0])), reference)[1]
    assert SAID.search(said(place, Serving(smol(place, [1, 1])), reference)[1])


def test_an_engine_of_which_nothing_could_be_read_does_not_agree():
    with pytest.warns(UserWarning, match="nothing is compared"):
        EngineParity()._say(Recorder(), [])


@pytest.mark.parametrize(
    ("scored", "says"),
    [
        ((8, 16), r"agree, to 0 nats a token$"),
        ((8,), r"agree, to 0 nats a token; from 16 tokens on nothing can be said of text: "),
        ((16,), r"agree, to 0 nats a token; at 8 tokens nothing can be said of text: "),
    ],
)
def test_lengths_without_numbers_are_no_agreement(scored, says):
    def measured(n):
        change = np.zeros((2, n)) if n in scored else np.full((2, n), np.nan)
        return lambda cells, counter: _record(cells, change)

    plan = [Cell({"protocol": "text", "length": n}, n, measured(n)) for n in (8, 16)]
    with pytest.warns(UserWarning, match=says):
        EngineParity()._say(recorded(plan, lambda *_: None), plan)
