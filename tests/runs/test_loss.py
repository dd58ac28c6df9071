"""The loss of a step: what the plain definition says, without waiting for a device."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from extrap.data.mixture import IGNORED, Batch
from extrap.model import loss as losses
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.optim import Optim
from extrap.schemes.t5 import T5

WEIGHTS = {"text": 1.0, "retrieval": 3.0}
PARTS = {"text": slice(0, 4), "retrieval": slice(4, 10)}


class Embedded(nn.Module):
    """A model without context."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(11, 6), nn.Linear(6, 11)
        self.norm, self.scheme = nn.Tanh(), None

    def hidden(self, tokens, states=None):
        x = self.embedding(tokens)
        if states is not None:
            states += [x.cos(), x]
        return x.sin()

    def logits(self, hidden):
        return self.head(hidden)


@pytest.fixture
def batch():
    """Text is scored everywhere, an answer here and there."""
    tokens, targets = torch.randint(11, (2, 10, 7))
    targets[4:] = targets[4:].masked_fill(torch.rand(6, 7) < 0.7, IGNORED)
    assert (targets[4:] >= 0).any()
    return Batch(tokens, targets, PARTS)


def plain(model: Embedded, batch: Batch) -> tuple[torch.Tensor, dict[str, float]]:
    """The definition, by masks."""
    hidden, total, measured = model.hidden(batch.tokens), 0.0, {}
    for part, rows in batch.parts.items():
        scored = batch.targets[rows] >= 0
        logits, targets = model.logits(hidden[rows][scored]), batch.targets[rows][scored]
        nll = F.cross_entropy(logits, targets)
        total = total + WEIGHTS[part] * nll
        measured[f"{part}/nll"] = float(nll.detach())
        measured[f"{part}/accuracy"] = float((logits.argmax(-1) == targets).float().mean())
    return total, measured


def test_it_is_the_weighted_sum_of_the_means_of_parts(batch):
    model = Embedded()
    lit = Lit(model, Optim(), WEIGHTS)
    expected, measured = plain(model, batch)
    gradients = torch.autograd.grad(expected, list(model.parameters()))
    loss = lit.training_step(share(batch, 0, 1), 0)
    torch.testing.assert_close(loss, expected)
    found = {name: float(value) for name, value in lit.measured.items()}
    assert found == pytest.approx(measured, rel=1e-6)
    for ours, theirs in zip(
        torch.autograd.grad(loss, list(model.parameters())), gradients, strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)


def test_a_batch_says_what_is_left_of_a_weight(batch):
    model = Embedded()
    whole, halved = ({"text": 3.0, "retrieval": weight} for weight in (2.0, 1.0))
    part = replace(batch, weights={"retrieval": 0.5})
    found = Lit(model, Optim(), whole).training_step(share(part, 0, 1), 0)
    expected = Lit(model, Optim(), halved).training_step(share(batch, 0, 1), 0)
    torch.testing.assert_close(found, expected)
    assert share(part, 0, 2).weights == part.to("cpu").weights == {"retrieval": 0.5}


def test_echoes_are_asked_of_the_layers_before_the_last_too(batch):
    """In the loss of their part like every answer, half as much again before the last layer, and
    in no measured number.
    """
    early = torch.zeros(10, 7, dtype=torch.bool)
    early[4:6] = True
    model, marked = Embedded(), Batch(batch.tokens, batch.targets, PARTS, early)
    lit = Lit(model, Optim(), WEIGHTS)
    expected, _ = plain(model, batch)
    echoes = early & (batch.targets >= 0)
    assert echoes.any()
    before_last = model.norm(model.embedding(batch.tokens).cos())[echoes]
    more = F.cross_entropy(model.logits(before_last), batch.targets[echoes])
    loss = lit.training_step(share(marked, 0, 1), 0)
    torch.testing.assert_close(loss, expected + 0.5 * WEIGHTS["retrieval"] * more)
    rest = Batch(batch.tokens[6:], batch.targets[6:], {"retrieval": slice(0, 4)})
    assert float(lit.measured["retrieval/nll"]) == pytest.approx(
        plain(model, rest)[1]["retrieval/nll"]
    )


class Waits(TorchDispatchMode):
    """Notes operators after which a GPU is waited for."""

    def __init__(self):
        super().__init__()
        self.met: list[str] = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if str(op).split(".")[1] in ("nonzero", "_local_scalar_dense", "masked_select"):
            self.met.append(str(op))
        return op(*args, **(kwargs or {}))


def test_a_step_waits_for_nothing(batch):
    lit, whole = Lit(Embedded(), Optim(), WEIGHTS), share(batch, 0, 1)
    with Waits() as waits:
        lit.training_step(whole, 0).backward()
    assert waits.met == []
    with Waits() as waits:
        plain(lit.model, batch)
    assert waits.met  # the definition by masks does wait


def test_an_answer_is_right_by_the_argmax():
    logits, targets = torch.randn(500, 3), torch.randint(3, (500,))
    assert torch.equal(losses.right(logits, targets), logits.argmax(-1) == targets)
    assert not losses.right(torch.full((4, 3), torch.nan), targets[:4]).any()


def test_muon_steps_the_matrices_of_the_blocks_and_adamw_all_else():
    """A first step of Muon is an orthogonal matrix, scaled to the size of a step of AdamW."""
    model = GPT(T5(Shape(16, 2, 1, 64, 11)), 11, Decoder(dim=16, layers=1, heads=2))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optim = Optim(lr=0.1, weight_decay=0.0, warmup=0, optimizer="muon")
    optimizer = Lit(model, optim, WEIGHTS).configure_optimizers()["optimizer"]
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    optimizer.step()
    for name, p in model.named_parameters():
        step = p.detach() - before[name]
        if name.startswith("blocks") and p.dim() == 2:
            assert 0.05 < step.square().mean().sqrt() / 0.1 < 0.3
            size = torch.linalg.svdvals(step)
            assert size.max() / size.min() < 2
        else:
            assert torch.allclose(step.abs(), torch.tensor(0.1), rtol=1e-3), name
