"""The task `diagnostics` on models made by hand whose attention and gradients are known."""

import numpy as np
import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from extrap.tasks.diagnostics import Diagnostics
from extrap.utils.errors import UserError
from tests.support.hand import Texts, measure, speak
from tests.support.jobs import job

L = 16
CORPUS = Texts([np.arange(200) % 256])


class Hand:
    """Attends to the value behind the key, else to BOS; the middle has no influence."""

    scheme = trained_scheme = RoPE(Shape(dim=8, heads=2, length=L))
    width, orderless = 8, True

    def __init__(self, learned: bool = True):
        self.learned = learned

    def untrained(self, layers=None, causal=True):
        if layers == 8:
            raise UserError("model.layers=8: too deep")
        return self

    def __call__(self, tokens, last):
        assert tokens.numel() <= 2048, "task.diagnostics.batch_tokens"
        return speak(
            self._slot(tokens)[1] if self.learned else torch.zeros(len(tokens), dtype=torch.long)
        )

    @staticmethod
    def _slot(tokens):
        found = tokens[:, :-1] == tokens[:, -1:]
        at = torch.where(found.any(1), found.double().argmax(1) + 1, 0)
        return at, tokens.gather(1, at[:, None])[:, 0]

    def attention(self, tokens):
        """Two layers: all on token 0, then the reader; one head."""
        B, T = tokens.shape
        a = torch.zeros(2, B, 1, T, T)
        a[..., 0] = 1
        a[1, :, 0, -1] = torch.nn.functional.one_hot(self._slot(tokens)[0], T).float()
        return a

    def clusters(self, tokens):
        """The second layer has no queries and keys of its own."""
        return {0: torch.tensor([[0.5, -0.25]]).expand(len(tokens), 2)}

    def jacobian(self, tokens, probes):
        assert probes.shape == (4, 8)
        out = torch.zeros(tokens.shape)
        out[:, 0], out[:, -1] = 1, 3
        return out + 0.01

    def gradient(self, tokens, targets):
        out = torch.zeros(tokens.shape)
        out[:, -5] = 2
        return out


@pytest.fixture(scope="module")
def rows():
    task = Diagnostics(multiples=[1, 2], inputs=4, slots=3, probes=4, layers=[1, 8])
    return measure(task, Hand(), CORPUS, L).rows


def value(rows, metric, protocol="trained_records", length=L, **where):
    (found,) = (
        r
        for r in rows
        if (r["metric"], r["protocol"], r["length"]) == (metric, protocol, length)
        and all(r.get(k) == v for k, v in where.items())
    )
    return found["value"]


def test_attention_is_told_as_it_is(rows):
    assert value(rows, "sink", layer=0, head=0) == 1
    assert value(rows, "sink", layer=1, head=0) == pytest.approx(
        7 / 8
    )  # the last of eight rows looks elsewhere
    assert value(rows, "sink_rate") == 1
    assert value(rows, "mass", layer=0, at=0) == 1
    alike = np.mean([1 / (i + 1) for i in range(8, L)])
    assert value(rows, "mass_uniform", at=0) == pytest.approx(alike)
    assert value(rows, "entropy", layer=0, at=L) == 0
    assert value(rows, "rollout", at=L - 1) == 0.25
    assert value(rows, "cosine", layer=0) == 0.125
    assert not [r for r in rows if r["metric"] == "cosine" and r["layer"] == 1]


def test_slots_are_told_apart_from_their_contents(rows):
    for at in (0, 3, 6):
        assert value(rows, "gold_mass", at=at) == 0.5  # mean over layers, of which one reads
        assert value(rows, "dummy_mass", at=at) == 0
        assert value(rows, "calibrated", at=at) == 0.5
        assert value(rows, "slot_mass", at=at, layer=1) == pytest.approx(1 / 3)
    assert value(rows, "slot_mass_uniform") == 2 / L


def test_gradients_are_told_by_position_and_distance(rows):
    total = 4 + L * 0.01
    assert value(rows, "influence", at=0) == pytest.approx(1.01 / total)
    assert (
        value(rows, "influence_recency", "untrained_1_layers")
        > value(rows, "influence_primacy", "untrained_1_layers")
        > 1
    )
    assert value(rows, "gradient", at=2) == 0
    assert value(rows, "gradient", at=4) == value(rows, "gradient", at=L - 1) == 1
    assert value(rows, "reach", at=0.99) == 4


def test_protocols_tell_state_content_and_depth(rows):
    found = {r["protocol"] for r in rows}
    states = {
        f"{state}{content}"
        for state in ("trained", "untrained")
        for content in ("", "_records", "_text")
    }
    assert found == states | {"untrained_1_layers", "untrained_unmasked"}
    assert {r["status"] for r in rows} == {"ok"}
    keys = [
        tuple(r.get(k) for k in ("protocol", "length", "axis", "at", "layer", "head", "metric"))
        for r in rows
    ]
    assert len(set(keys)) == len(keys)


def test_a_model_may_be_looked_into_within_its_length_alone():
    """Then untrained models, too, and what was learned are read there."""
    task = Diagnostics(multiples=[0.75], inputs=2, slots=2, probes=4, layers=[1])
    rows = measure(task, Hand(), CORPUS, L).rows
    assert {r["length"] for r in rows if r["metric"] in ("influence", "sink", "mass")} == {12}
    assert {r["status"] for r in rows} == {"ok"}


def test_a_run_that_did_not_learn_retrieval_is_marked_where_it_reads_records():
    task = Diagnostics(multiples=[1], inputs=2, slots=2, probes=4, layers=[1])
    rows = measure(task, Hand(learned=False), CORPUS, L).rows
    assert {r["protocol"] for r in rows if r["status"] == "not trained"} == {"trained_records"}


def test_untrained_is_the_model_that_training_began_with_under_the_extension():
    j = job("scheme=rope", "extension=pi")
    fresh, began = j.extension(j.source.untrained()), j.source.model()
    assert all(
        torch.equal(fresh.state_dict()[name], value)
        for name, value in began.state_dict().items()
        if name in fresh.state_dict()
    )
    assert fresh.scheme.positions(torch.tensor([8.0])) == 1
    assert began.scheme.positions(torch.tensor([8.0])) == 8
    assert len(j.extension(j.source.untrained(4)).blocks) == 4
