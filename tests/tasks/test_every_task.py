"""Contracts of every task that reads logits, on a model that answers by tokens and slots."""

import pytest
import torch

from extrap.data.vocabulary import Vocabulary
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Setting, Task
from extrap.utils.errors import UserError
from tests.support.discover import made, names, node
from tests.support.draws import Listener, corpus

L = 64
SMALL = {"multiples": [1, 2], "trials": 6, "documents": 3, "pairs": [2], "top": [1, 4]}
SMALL |= {"queries": 2, "passkey_trials": 3, "generate": 40}
OTHERS = {
    "kv": {"pairs": 4},
    "lost-in-the-middle": {"pairs": [1, 2], "characters": 6},
    "multidoc-qa": {"documents": [2, 3], "generate": 4},
    "nll-position": {"multiples": [2, 4]},
}
LONGEST = {"lost-in-the-middle": (220, 190), "multidoc-qa": (500, 500)}
"""The longest text that a table holds, and that has numbers, where prompts are longer than L."""
INSIDE = ("diagnostics", "heads", "needle", "parity", "rotary", "speed")
"""Tasks that ask for more than logits."""
NAMES = [name for name in names("task") if name not in INSIDE]
LOSSES = ["context-gain", "gap", "long-loss", "nll", "nll-position", "repeat"]
OF_DATA = {"chance", "guess", "handed", "share"}
"""Metrics that no model changes."""
OF_COORDINATES = ("gap",)
"""Tasks whose length is a coordinate, past the tokens that are read."""
IN_WINDOWS = {"context-gain": {"crop", "window"}, "nll-position": {"windowed"}}
"""Protocols that score texts past a table in windows of the training length."""


class Reader(Listener):
    """A listener with a table of so many positions that keeps the sizes of its batches; past
    `lost` tokens its logits are nan.
    """

    def __init__(self, vocabulary: Vocabulary, longest: float = torch.inf, lost: float = torch.inf):
        super().__init__(vocabulary.size)
        self.longest, self.lost, self.sizes = longest, lost, []

    def __call__(self, tokens, last=None):
        if tokens.shape[1] > self.longest:
            raise OutOfRange("past the table")
        self.sizes.append(tokens.shape)
        return super().__call__(tokens, last) * (torch.nan if tokens.shape[1] > self.lost else 1)

    def jumped(self, tokens, after, jump, last):
        if tokens.shape[1] + jump > self.longest:
            raise OutOfRange("past the table")
        return super().jumped(tokens, after, jump, last)


def run(name: str, batch_tokens: int = 4096, **how):
    options = {k: v for k, v in SMALL.items() if k in node("task", name)}
    options |= OTHERS.get(name, {}) | {"batch_tokens": batch_tokens}
    task = made(node("task", name) | options, f"task.{name}")
    assert isinstance(task, Task)
    vocabulary, steps = Vocabulary(keys=256, values=64), []
    model = Reader(vocabulary, **how)
    setting = Setting(corpus(), vocabulary, L)
    result = task.run(model, setting, lambda *step: steps.append(step))
    return result, model, steps


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", NAMES)
def test_batches_change_nothing_and_no_row_comes_twice(name):
    whole, _, _ = run(name)
    batched, model, _ = run(name, 300)
    assert batched == whole and all(b * t <= 300 for b, t in model.sizes if b > 1)
    for found, differ in ((whole.rows, "value low high"), (whole.items, "value")):
        keys = [tuple((k, v) for k, v in r.items() if k not in differ.split()) for r in found]
        assert len(set(keys)) == len(keys) > 0


@pytest.mark.parametrize("name", NAMES)
def test_lengths_past_a_table_are_absent_and_progress_ends_at_its_total(name):
    longest, _ = LONGEST.get(name, (L, L))
    result, _, steps = run(name, longest=longest)
    lengths = {row["length"] for row in result.rows if "length" in row}
    assert lengths
    past = {row["protocol"] for row in result.rows if row.get("length", 0) > longest}
    assert past == IN_WINDOWS.get(name, set())
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1]


@pytest.mark.parametrize("longest", [L // 2 - 1, L - 1])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "repeat"])  # of no engine
def test_a_reader_of_less_than_the_training_length_ends_in_no_traceback(name, longest):
    """An engine may read less, its limit less the answer."""
    result, _, _ = run(name, longest=longest)
    windows = {"windowed"} & IN_WINDOWS.get(name, set())
    measured = [row for row in result.rows if row.get("protocol") not in windows]
    assert all(row.get("length", 0) <= longest for row in measured if name not in OF_COORDINATES)
    assert {row["status"] for row in result.rows if row["metric"] == "accuracy"} <= {"not trained"}


@pytest.mark.parametrize(
    "name, multiples, line",
    [("nll", [0.005, 1], "no token"), ("kv-before", [0.04, 1], "no record")],
)
def test_lengths_that_hold_nothing_are_refused(name, multiples, line):
    task = made(node("task", name) | {"multiples": multiples}, f"task.{name}")
    with pytest.raises(UserError, match=line):
        task.check(Setting(corpus(), Vocabulary(keys=256, values=64), L))


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_that_is_no_number_is_marked(name):
    result, _, _ = run(name, lost=0)
    losses = [row for row in result.rows if row["metric"] in ("nll", "bits_per_byte")]
    assert {row["status"] for row in losses} == {"diverged"}
    assert not [item for item in result.items if item["metric"] == "nll_sum"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gap"])  # reads short texts
def test_a_text_whose_logits_are_no_numbers_has_no_right_or_wrong_answer(name):
    _, within = LONGEST.get(name, (L, L))
    result, _, _ = run(name, lost=within)
    windows = IN_WINDOWS.get(name, set())
    past = [
        row
        for row in result.rows
        if row.get("length", 0) > within and row.get("protocol") not in windows
    ]
    of_model = [row for row in past if row["metric"] not in OF_DATA]
    assert of_model and {row["status"] for row in of_model} == {"diverged"}
    assert all(row["value"] != row["value"] for row in of_model)
    inside = [row for row in result.rows if row.get("length", 0) <= within]
    known = [row for row in inside if row["metric"] in ("accuracy", "nll", "gate")]
    assert all(row["value"] == row["value"] for row in known)
    scored = {"accuracy", "recall", "correct", "nll_sum", "gain"}
    found = [i for i in result.items if i.get("length", 0) > within and i["metric"] in scored]
    assert {item.get("protocol") for item in found} <= windows
