"""LoRA: begins at the model itself and merges without loss. That it moves nothing else:
tests/runs/test_finetuned.py.
"""

import pytest
import torch
import torch.nn.functional as F

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.runs.training.lora import LoRA, LowRank
from tests.support.discover import gpt

EVERYWHERE = ("qkv", "out", "up", "down", "head", "embedding")
TOKENS = torch.randint(50, (2, 20), generator=torch.Generator().manual_seed(0))


def adapted(lora: LoRA, moved: bool = True, scheme: str = "t5") -> tuple[GPT, GPT]:
    """A model, and the same with LoRA; A and B drawn anew where `moved`."""
    plain, model = gpt(scheme), gpt(scheme)
    model.load_state_dict(plain.state_dict())
    lora.adapt(model)
    if moved:
        for name, p in model.named_parameters():
            if p.requires_grad:
                torch.nn.init.normal_(p, std=0.1 if name.endswith("B") else 1.0)
    return plain, model


def test_untrained_is_the_model_itself():
    plain, model = adapted(LoRA(targets=EVERYWHERE), moved=False)
    with torch.no_grad():  # with gradients, what is frozen decides which kernel attends
        assert torch.equal(plain(TOKENS), model(TOKENS))
    drawn = [p.flatten() for name, p in model.named_parameters() if name.endswith(".A")]
    assert torch.cat(drawn).std().item() == pytest.approx(8**-0.5, rel=0.05)


def test_the_addition_is_that_of_the_paper():
    """h = W x + (alpha / r) B (A x), computed without ever forming B A."""
    torch.manual_seed(0)
    W, x = torch.randn(7, 5, dtype=torch.float64), torch.randn(3, 5, dtype=torch.float64)
    low = LowRank(W, rank=2, alpha=6.0)
    torch.nn.init.normal_(low.B)
    expected = F.linear(x, W) + 3 * F.linear(F.linear(x, low.A), low.B)
    assert torch.allclose(F.linear(x, low(W)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("targets", [("qkv",), ("out", "down"), EVERYWHERE])
def test_merged_equals_unmerged(targets):
    lora = LoRA(targets=targets, rank=3, alpha=5.0)
    plain, model = adapted(lora)
    unmerged = model(TOKENS)
    assert (unmerged - plain(TOKENS)).abs().max() > 1e-3
    plain.load_state_dict(lora.merge(model.state_dict()))
    assert torch.allclose(plain(TOKENS), unmerged, rtol=0, atol=1e-12)


def test_a_tied_head_goes_with_the_embedding():
    plain = gpt("rope")
    tied = GPT(plain.scheme, 50, Decoder(32, 2, 4, head="tied")).double()
    lora = LoRA(targets=("embedding",))
    lora.adapt(tied)
    with pytest.raises(ValueError, match=r"targets=\[head\]: one or more of embedding, qkv, out"):
        LoRA(targets=("head",)).adapt(GPT(plain.scheme, 50, Decoder(32, 2, 4, head="tied")))
    torch.nn.init.normal_(tied.embedding.parametrizations.weight[0].B)
    unmerged = tied(TOKENS)
    merged = GPT(plain.scheme, 50, Decoder(32, 2, 4, head="tied")).double()
    merged.load_state_dict(lora.merge(tied.state_dict()))
    assert torch.allclose(merged(TOKENS), unmerged, rtol=0, atol=1e-12)
