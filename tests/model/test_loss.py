"""The loss in blocks of positions against the plain one."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize
from torch.utils._python_dispatch import TorchDispatchMode

from extrap.model import loss
from extrap.runs.training.lora import LowRank

N, C, V = 50, 8, 23


class Widest(TorchDispatchMode):
    """The most numbers of a tensor that an operator made."""

    most = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        made = op(*args, **(kwargs or {}))
        sizes = [
            t.numel() for t in (made if isinstance(made, tuple) else [made]) if hasattr(t, "numel")
        ]
        self.most = max(self.most, *sizes, 0)
        return made


class Model(nn.Module):
    """Hidden states from a table, and a head of one kind."""

    def __init__(self, kind: str):
        super().__init__()
        torch.manual_seed(0)
        self.kind, self.table = kind, nn.Embedding(V, C)
        self.head = nn.Linear(C, V, bias=kind != "tied")
        if kind == "tied":
            self.head.weight = self.table.weight
        if kind == "low rank":
            self.head.requires_grad_(False)
            parametrize.register_parametrization(
                self.head, "weight", LowRank(self.head.weight, 2, 4)
            )
            nn.init.normal_(self.head.parametrizations.weight[0].B)

    def logits(self, hidden):
        logits = self.head(hidden)
        return 5 * (logits / 5).tanh() if self.kind == "capped" else logits

    def both(self, tokens, targets, blocks: bool, dtype=None):
        """The sum of a loss of answers and an early one, what is measured, and gradients."""
        with torch.autocast("cpu", dtype, enabled=dtype is not None):
            hidden, states = self.table(tokens).sin(), self.table(tokens).cos()
            if blocks:
                mean, each, right = loss.scored(self.logits, V, hidden, targets)
                early = loss.mean_loss(self.logits, V, states, targets)
            else:
                logits = self.logits(hidden).float()
                each, right = F.cross_entropy(logits, targets, reduction="none"), None
                right = logits.argmax(-1) == targets
                mean, early = each.mean(), F.cross_entropy(self.logits(states).float(), targets)
        tuned = [p for p in self.parameters() if p.requires_grad]
        return mean + early / 2, each, right, torch.autograd.grad(2 * mean + early / 2, tuned)


@pytest.mark.parametrize("kind", ["untied", "tied", "capped", "low rank"])
def test_blocks_give_the_loss_and_its_gradients(kind, monkeypatch):
    monkeypatch.setitem(loss.LOGITS, "cpu", 7 * V)
    model = Model(kind)
    tokens, targets = torch.randint(V, (2, N))
    total, each, right, gradients = model.both(tokens, targets, blocks=True)
    expected, plain_each, plain_right, plain = model.both(tokens, targets, blocks=False)
    close = {"rtol": 1e-6, "atol": 1e-6}
    torch.testing.assert_close(total, expected, **close)
    torch.testing.assert_close(each, plain_each.detach(), **close)
    assert torch.equal(right, plain_right)
    for found, known in zip(gradients, plain, strict=True):
        torch.testing.assert_close(found, known, **close)
        assert known.abs().max() > 1e-3


def test_bfloat16_in_blocks_is_as_near_to_float32(monkeypatch):
    monkeypatch.setitem(loss.LOGITS, "cpu", 7 * V)
    model = Model("untied")
    tokens, targets = torch.randint(V, (2, N))
    exact = model.both(tokens, targets, blocks=False)[3]
    errors = []
    for blocks in (True, False):
        *_, found = model.both(tokens, targets, blocks, torch.bfloat16)
        pairs = zip(found, exact, strict=True)
        errors.append(sum(float((a - b).norm() / b.norm()) for a, b in pairs))
    assert 0 < errors[0] < 1.2 * errors[1]


def test_no_operator_makes_more_logits_than_a_block(monkeypatch):
    hidden, targets = torch.randn(N, C, requires_grad=True), torch.randint(V, (N,))
    model = Model("untied")
    for logits, most in ((7 * V, 7 * V), (N * V, N * V)):
        monkeypatch.setitem(loss.LOGITS, "cpu", logits)
        with Widest() as widest:
            loss.scored(model.logits, V, hidden, targets)[0].backward()
        assert widest.most == max(most, N * C)
