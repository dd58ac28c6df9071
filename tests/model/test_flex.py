"""FlexAttention computes what a scheme defines, at lengths that cross blocks of 128. On a CPU torch
runs it uncompiled and reads the mask of every pair.
"""

from functools import cache, partial

import pytest
import torch
from torch._dynamo.exc import TorchDynamoException
from torch.nn.attention import flex_attention as torchs

from extrap.model import attention as kernels
from extrap.model import flex
from extrap.model.attention import flexible, masked
from extrap.model.scheme import Scheme, Where
from extrap.model.stack import Only, Stack
from extrap.schemes.log_n import LogN
from extrap.schemes.sink import SinkLogit
from extrap.schemes.window import Window
from tests.support.discover import gpt, names
from tests.support.scheme_case import moved

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")


@pytest.fixture
def everywhere(monkeypatch):
    monkeypatch.setattr(flex, "DEVICES", ("cpu", "cuda"))


def case(scheme: Scheme, T: int, layer: int = 0, groups: int = 4, dtype=torch.float32):
    g = torch.Generator().manual_seed(T)
    shape = scheme.shape
    q = torch.randn(2, shape.heads, T, shape.head_dim, generator=g, dtype=dtype)
    k, v = torch.randn(2, 2, groups, T, shape.head_dim, generator=g, dtype=dtype)
    x = torch.randn(2, T, shape.dim, generator=g, dtype=dtype)
    return q, k, v, place(scheme, T, layer, x)


def place(scheme: Scheme, T: int, layer: int = 0, x=None, **more) -> Where:
    t = torch.arange(T, dtype=torch.float64)
    sees = scheme.sees if scheme.uses("sees") else None
    return Where.whole(t, scheme.scale, layer=layer, x=x, sees=sees, **more)


def stack() -> Stack:
    """A mask, heat and a sink."""
    shape = gpt("nope").scheme.shape
    made = Stack(shape, [Window(shape, 70), LogN(shape), SinkLogit(shape)])
    moved(made)
    return made


@pytest.mark.filterwarnings("ignore::UserWarning:extrap")
def test_whatever_it_serves_equals_the_definition(everywhere):
    """Of all schemes, in every layer, in float64."""
    served = set()
    for name in names("scheme"):
        scheme = gpt(name).scheme
        for layer in range(2):
            q, k, v, at = case(scheme, 130, layer, dtype=torch.float64)
            if kernels.kernel(scheme, at) is not flexible:
                continue
            served.add(name)
            found, expected = flexible(scheme, q, k, v, at), scheme.attend(q, k, v, at)
            assert torch.allclose(found, expected, rtol=1e-10, atol=1e-10), (name, layer)
    assert served >= {"window", "hwfa", "chunked-nope", "rnope-swa"}
    assert not served & {"alibi", "t5", "kerple-log"}


@pytest.mark.parametrize("T", [1, 128, 129])
@torch.no_grad()
def test_lengths_and_shared_keys(T):
    """Two heads of keys for four of queries."""
    scheme = stack().float()
    q, k, v, at = case(scheme, T, groups=2)
    keys, values = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    torch.testing.assert_close(
        flexible(scheme, q, k, v, at), scheme.attend(q, keys, values, at), atol=1e-5, rtol=1e-5
    )


@torch.no_grad()
def test_a_mask_that_is_not_causal():
    scheme = gpt("nope").scheme
    q, k, v, _ = case(scheme, 130, dtype=torch.float64)
    at = place(scheme, 130, causal=False)
    expected = scheme.attend(q, k, v, at)
    torch.testing.assert_close(flexible(scheme, q, k, v, at), expected, atol=1e-10, rtol=1e-10)


def test_a_mask_is_made_once_a_forward():
    """In a stack, too; layers with another mask have another one."""
    shape = gpt("nope", layers=4).scheme.shape
    wide, narrow = Window(shape, 100), Only(shape, Window(shape, 50), "3:")
    for scheme in (wide, Stack(shape, [wide, LogN(shape), narrow])):
        at = place(scheme, 512)
        made = [flex.block_mask(scheme, at.at_layer(n, at.q)) for n in range(4)]
        assert made[0] is made[1] is made[2]
        assert (made[3] is made[0]) == (scheme is wide)
        assert torch.equal(pairs(made[3], at), at.at_layer(3, at.q).visible)


def pairs(mask, at):
    return mask.mask_mod(None, None, at.i[:, None], at.j)


class Deeper(Scheme):
    """A window that grows with depth, as a plug-in may have it.

    Kind: modifier
    Past L: defined
    """

    def sees(self, at):
        return at.back <= at.layer


def test_layers_do_not_share_a_mask_that_a_plug_in_may_change():
    scheme = Deeper(gpt("nope").scheme.shape)
    at = place(scheme, 130)
    for n in range(2):
        here = at.at_layer(n, at.q)
        assert torch.equal(pairs(flex.block_mask(scheme, here), at), here.visible)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # one of its own, while it traces
def test_a_gpu_compiles_the_mask(monkeypatch):
    """By the backend eager here. The default one needs no memory; plain torch 10 GB at 2**15."""
    scheme = gpt("window").scheme
    expected = flex.block_mask(scheme, place(scheme, 300))
    compiled = cache(partial(torch.compile, backend="eager"))
    monkeypatch.setattr(flex, "_of_torch", lambda name, _: compiled(getattr(torchs, name)))
    found = flex.block_mask(scheme, place(scheme, 300))
    assert torch.equal(found.to_dense(), expected.to_dense())
    assert torch.equal(found.full_kv_num_blocks, expected.full_kv_num_blocks)


def test_on_a_cpu_and_in_a_reading_nothing_changes(monkeypatch):
    scheme = gpt("window").scheme
    at = place(scheme, 40)
    assert kernels.kernel(scheme, at) is masked
    monkeypatch.setattr(flex, "DEVICES", ("cpu",))
    assert kernels.kernel(scheme, at) is flexible
    with torch.no_grad():
        assert kernels.kernel(scheme, at) is masked


def test_a_machine_that_cannot_compile_it_trains_by_another_kernel(everywhere, monkeypatch):
    """As without a C compiler: one line, and the same output; any other error is raised."""
    monkeypatch.setattr(flex, "LOST", set())
    scheme = gpt("window").scheme
    q, k, v, at = case(scheme, 130, dtype=torch.float64)

    def fails(error):
        def call(*_):
            raise error

        monkeypatch.setattr(flex, "flex", call)

    fails(torch.OutOfMemoryError("no room"))
    with pytest.raises(torch.OutOfMemoryError):
        kernels.attention(scheme, q, k, v, at)
    fails(TorchDynamoException("Failed to find C compiler.\nmore"))
    with pytest.warns(UserWarning, match=r"\(Failed to find C compiler\.\); masks take another"):
        found = kernels.attention(scheme, q, k, v, at)
    assert torch.equal(found, masked(scheme, q, k, v, at))
    assert kernels.kernel(scheme, at) is masked


def test_what_torch_has_no_gpu_kernel_for(monkeypatch):
    """Device meta stands for a GPU."""
    monkeypatch.setattr(flex, "DEVICES", ("meta",))

    def chosen(width: int, dtype: torch.dtype):
        scheme = gpt("window", dim=4 * width).scheme
        t = torch.arange(8, dtype=torch.float64, device="meta")
        x = torch.empty(1, 8, 4 * width, dtype=dtype, device="meta")
        return kernels.kernel(scheme, Where.whole(t, 1.0, spacing=1.0, x=x, sees=scheme.sees))

    assert chosen(16, torch.bfloat16) is flexible
    assert chosen(8, torch.bfloat16) is masked
    assert chosen(16, torch.float64) is masked


def test_a_mask_inside_a_compiled_model_is_left_to_the_others(everywhere, monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    scheme = gpt("window").scheme
    assert kernels.kernel(scheme, place(scheme, 40)) is masked


@pytest.mark.filterwarnings("ignore")
def test_gradients_equal_those_of_the_definition(monkeypatch):
    """torch refuses them on a CPU, though its backward runs there: the refusal is taken away."""
    monkeypatch.setattr(torchs, "_validate_device", lambda *_: None)
    scheme = stack()
    grads = []
    for attend in (flexible, Scheme.attend):
        q, k, v, at = case(scheme, 130, dtype=torch.float64)
        leaves = [z.clone().requires_grad_() for z in (q, k, v)]
        scheme.zero_grad()
        attend(scheme, leaves[0], leaves[1], leaves[2], at).square().sum().backward()
        own = [p.grad for p in scheme.parameters()]
        assert own and all(g is not None for g in own)
        grads.append([z.grad for z in leaves] + own)
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)
