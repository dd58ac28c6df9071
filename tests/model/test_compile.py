"""torch.compile takes the whole forward in one graph: nothing is looked up on the host
on the way.
"""

import pytest
import torch

from tests.support.discover import gpt

GRAPHS = ["rope", "rope-logn", "alibi", "t5", "kerple-log", "window", "shaw"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["rope", "alibi", "t5"])
def test_what_training_calls_is_one_graph(name):
    """With the states after each layer, and the same gradients."""
    torch.compiler.reset()
    model = gpt(name)
    tokens = torch.randint(50, (2, 40))
    grads = []
    for hidden in (model.hidden, torch.compile(model.hidden, backend="eager", fullgraph=True)):
        model.zero_grad()
        states: list[torch.Tensor] = []
        (hidden(tokens, states).square().sum() + states[0].sum()).backward()
        grads.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(grads[0]) == len(grads[1]) > 0
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    torch.compiler.reset()


@pytest.mark.sample(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GRAPHS)
@torch.no_grad()
def test_the_forward_is_one_graph(name):
    """Of all positions, and of the last alone."""
    torch.compiler.reset()
    model = gpt(name)
    tokens = torch.randint(50, (2, 40))
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    for last in (None, 3):
        expected = model(tokens, last=last)
        torch.testing.assert_close(compiled(tokens, last=last), expected, rtol=1e-10, atol=1e-10)
    torch.compiler.reset()
