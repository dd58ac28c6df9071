"""Linear layers by oneDNN: those of torch in float32, forward and backward, and torch's own
wherever oneDNN would compute something else.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model import linear as this
from extrap.model.gpt import GPT
from extrap.model.linear import Linear, available, linear, measure, using
from extrap.model.scheme import Scheme, Shape

needs_onednn = pytest.mark.skipif(not available(), reason="this torch is built without oneDNN")


def drawn(rows: tuple[int, ...], K: int, N: int, bias: bool = True):
    return (
        torch.randn(*rows, K),
        torch.randn(N, K) * K**-0.5,
        torch.randn(N) if bias else None,
    )


def forward_backward(f, tensors, dtype=torch.float32) -> list[Tensor | None]:
    """The output of f and its gradients."""
    leaves = [None if t is None else t.detach().to(dtype).requires_grad_() for t in tensors]
    y = f(*leaves)
    y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(1)).to(dtype))
    return [y.detach(), *(None if t is None else t.grad for t in leaves)]


@pytest.fixture
def products(monkeypatch) -> list[int]:
    """Grows by one for each product that oneDNN computes."""
    calls: list[int] = []
    real = this._product
    monkeypatch.setattr(this, "_product", lambda *a: calls.append(1) or real(*a))
    return calls


@needs_onednn
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    "rows, K, N",
    [
        ((96, 64), 64, 192),
        ((6144,), 64, 256),
        ((6144,), 256, 64),
        ((3, 1021), 17, 131),
        ((2, 3, 701), 64, 577),
        ((33,), 768, 3072),
    ],
)
def test_equals_float64(products, rows, K, N, bias):
    tensors = drawn(rows, K, N, bias)
    expected = forward_backward(F.linear, tensors, torch.float64)
    with using("onednn"):
        got = forward_backward(linear, tensors)
    assert len(products) == 3
    for a, b in zip(expected, got, strict=True):
        if a is None:
            assert b is None
            continue
        assert b.dtype == torch.float32
        assert b.shape == a.shape
        assert float((b - a).abs().max() / a.abs().max()) < 2e-6


@needs_onednn
def test_strides_do_not_matter():
    x, w, b = drawn((64, 96), 64, 192)
    tensors = x.transpose(0, 1), w.t().contiguous().t(), b
    with using("onednn"):
        got = forward_backward(linear, tensors)
        every_other = linear(torch.cat([x, x], -1)[..., ::2].flatten(0, 1), w, b)
        summed = drawn((6144,), 64, 192)
        x, w, b = (t.requires_grad_() for t in summed)
        linear(x, w, b).sum().backward()  # its gradient is one number, expanded
    for a, o in zip(forward_backward(F.linear, tensors, torch.float64), got, strict=True):
        torch.testing.assert_close(o.double(), a, rtol=1e-5, atol=2e-4)
    torch.testing.assert_close(
        every_other,
        F.linear(
            torch.cat([tensors[0].transpose(0, 1)] * 2, -1)[..., ::2].flatten(0, 1), *tensors[1:]
        ),
        rtol=1e-5,
        atol=1e-5,
    )
    torch.testing.assert_close(w.grad, x.detach().sum(0).expand(192, 64), rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(b.grad, torch.full((192,), 6144.0))


@needs_onednn
def test_the_backward_computes_what_is_asked_for_alone(products):
    x, w, b = drawn((6144,), 64, 192)
    with using("onednn"):
        linear(x.requires_grad_(), w, b).sum().backward()
    assert len(products) == 2
    assert x.grad.shape == x.shape
    assert w.grad is None


@needs_onednn
def test_what_onednn_would_compute_otherwise_is_left_to_torch(products, monkeypatch):
    x, w, b = drawn((6144,), 64, 192)
    linear(x, w, b)
    assert not products  # outside `using`
    with using("onednn"):
        linear(x, w, b)
        assert len(products) == 1
        assert linear(x.double(), w.double(), b.double()).dtype == torch.float64
        with torch.autocast("cpu", torch.bfloat16):
            assert linear(x, w, b).dtype == torch.bfloat16
        assert linear(x.to("meta"), w.to("meta"), b.to("meta")).is_meta
        torch.set_float32_matmul_precision("high")
        try:
            linear(x, w, b)
        finally:
            torch.set_float32_matmul_precision("highest")
        with monkeypatch.context() as off:
            off.setattr(torch.backends.mkldnn, "enabled", False)
            linear(x, w, b)
        both = torch.func.vmap(lambda weight: linear(x, weight))(torch.stack([w, w]))
        assert both.shape == (2, 6144, 192)
        assert linear(x[:0], w, b).shape == (0, 192)
        linear(x[:5], w, b)  # too small to gain
        with using("torch"):
            linear(x, w, b)
        assert len(products) == 1
        with torch.inference_mode():
            linear(x, w, b)
        assert len(products) == 2


@needs_onednn
def test_gradients_in_other_ways():
    x, w, _ = drawn((6144,), 64, 192)
    w, x = nn.Parameter(w), x.requires_grad_()
    with using("onednn"):
        y = linear(x, w)
        rows = torch.randn(3, *y.shape)
        (batch,) = torch.autograd.grad(y, x, rows, is_grads_batched=True, retain_graph=True)
        torch.testing.assert_close(batch, rows @ w.detach(), rtol=1e-4, atol=1e-4)
        (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            first.sum().backward()
        torch.utils.checkpoint.checkpoint(
            lambda z: linear(z, w), x, use_reentrant=False
        ).sum().backward()
        assert w.grad is not None


def test_compiled_it_is_torchs():
    layer, x = Linear(64, 192), torch.randn(6144, 64)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    with using("onednn"):
        assert torch.equal(compiled(x), F.linear(x, layer.weight, layer.bias))


@needs_onednn
@pytest.mark.parametrize("head", ["untied", "tied"])
def test_a_model_reads_and_learns_the_same(products, head):
    torch.manual_seed(0)
    model = GPT(Scheme(Shape(64, 4, 2)), 130, head=head)
    tokens = torch.randint(130, (8, 257))

    def step():
        model.zero_grad()
        logits = model(tokens[:, :-1])
        F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        return [logits.detach(), *(p.grad.clone() for p in model.parameters())]

    plain = step()
    assert not products
    with using("onednn"):
        fast = step()
    assert len(products) == 3 * (4 * 2 + 1)  # every linear layer, and the head
    for a, b in zip(plain, fast, strict=True):
        torch.testing.assert_close(b, a, rtol=1e-4, atol=float(a.abs().max()) * 1e-5)


def test_state_dicts_are_those_of_torch():
    assert Linear(3, 4).state_dict().keys() == nn.Linear(3, 4).state_dict().keys()
    torch.manual_seed(0)
    ours = Linear(3, 4)
    torch.manual_seed(0)
    assert torch.equal(ours.weight, nn.Linear(3, 4).weight)


@needs_onednn
def test_the_measurement_leaves_threads_and_random_numbers_alone():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    measure.cache_clear()
    with torch.inference_mode():
        assert measure(rows=64, rounds=1) > 0
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
    measure.cache_clear()
