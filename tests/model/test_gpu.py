"""On a GPU every scheme computes what it computes on a processor; skipped where there is none:

pytest tests/model/test_gpu.py
"""

from copy import deepcopy

import pytest
import torch
from torch.nn import functional as F

from extrap.model import flex
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from tests.support.discover import gpt, names

if not torch.cuda.is_available():
    pytest.skip("no GPU here", allow_module_level=True)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.parametrize("name", names("scheme")),
]
LENGTHS = 40, 300  # within a block of query rows, and over two


def text(T: int) -> torch.Tensor:
    return torch.randint(50, (2, T), generator=torch.Generator().manual_seed(T))


def learned(model: GPT, tokens: torch.Tensor) -> dict[str, torch.Tensor]:
    """Returns the loss and the gradient of every parameter, in float64 on the processor."""
    logits = model(tokens)[:, :-1]
    loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
    loss.backward()
    found = {"loss": loss, **{n: p.grad for n, p in model.named_parameters()}}
    return {n: x.detach().double().cpu() for n, x in found.items() if x is not None}


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """Returns |one - other| / |other|; what is small beside rounding counts as 0."""
    return float((one - other).norm() / other.norm().clamp(min=1e-4))


def both(name: str, T: int) -> tuple[GPT, GPT]:
    """Returns a model in float32 on the processor and on the GPU, with heads of 16 channels."""
    model = gpt(name, dtype=torch.float32, dim=64)
    try:
        model.where(text(T))
    except OutOfRange:
        pytest.skip(f"{name} has no position {T - 1}")
    return model, deepcopy(model).cuda()


@pytest.mark.parametrize("T", LENGTHS)
@pytest.mark.parametrize("by_flex", [False, True])
def test_loss_and_gradients_are_those_of_a_processor(name, T, by_flex, monkeypatch):
    """With FlexAttention, which is chosen where it serves, and without."""
    monkeypatch.setattr(flex, "DEVICES", ("cuda",) if by_flex else ())
    here, there = both(name, T)
    if by_flex and not any(flex.serves(there.scheme, at) for at in places(there, T)):
        pytest.skip(f"{name} is not for FlexAttention")
    wanted, found = learned(here, text(T)), learned(there, text(T).cuda())
    assert found.keys() == wanted.keys()
    far = {n: apart(found[n], wanted[n]) for n in wanted}
    assert max(far.values()) < 2e-3, sorted(far.items(), key=lambda item: -item[1])[:3]


def places(model: GPT, T: int) -> list:
    at = model.where(text(T).cuda())
    return [at.at_layer(layer, None) for layer in range(len(model.blocks))]


def test_bfloat16_learns_nearly_the_same(name):
    """Training on a GPU runs in bfloat16 autocast: 8 bits of mantissa, a loss within 5 %."""
    here, there = both(name, 40)
    wanted = learned(here, text(40))
    with torch.autocast("cuda", dtype=torch.bfloat16):
        found = learned(there, text(40).cuda())
    assert all(bool(x.isfinite().all()) for x in found.values())
    assert apart(found["loss"], wanted["loss"]) < 0.05


def test_a_text_in_one_call_and_read_on_from_its_past(name):
    """Evaluation on a GPU reads the texts of several depths from what they share."""
    _, there = both(name, 40)
    one = text(40).cuda()
    other = one.clone()
    other[:, 30:] = other[:, 30:].flip(1)
    texts = torch.stack([one, other])
    with torch.no_grad():
        found = there.endings(texts, last=4)
        wanted = torch.stack([there(each, last=4) for each in texts])
    assert apart(found.double(), wanted.double()) < 1e-3
