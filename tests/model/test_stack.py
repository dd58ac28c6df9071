"""Stacks and layers: the laws of composition, which layers a pattern picks, who owns what where."""

from dataclasses import replace

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.distance_maps import constant
from extrap.model.inspection import InspectedModel, defined
from extrap.model.parts import has, parts
from extrap.model.scheme import HOOKS, Scheme, Shape, Where
from extrap.model.stack import Only, Stack
from extrap.model.wrapper import Wrapper
from extrap.schemes.alibi import ALiBi
from extrap.schemes.inverse_leaky import InverseLeaky
from extrap.schemes.learned import Learned
from extrap.schemes.linear_rope import LinearRoPE
from extrap.schemes.log_n import LogN
from extrap.schemes.nope import NoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.urpe import URPE
from extrap.schemes.window import Window
from tests.support.discover import names, scheme
from tests.support.scheme_case import around, at, close, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=4, length=64, vocab=50)
AROUND = {"limit", "scale", "uses", "inner", "mapped", "spectrum", "stretch", "sealed"}
AROUND |= {"symbols"}
FLAGS = {"causal_only", "own_keys", "full_width", "by_phase", "widens", "own_vectors"}
FLAGS |= {"looks_ahead"}
T = 20
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:extrap"),
    pytest.mark.filterwarnings("ignore:layers=.*none of the"),
]


def tokens(n: int = T) -> torch.Tensor:
    return torch.randint(50, (2, n), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def logits(s: Scheme) -> torch.Tensor:
    return around(s)(tokens(16))


def test_every_hook_of_a_scheme_is_in_the_one_list():
    public = {name for name in vars(Scheme) if not name.startswith("_")}
    assert set(HOOKS) == public - AROUND - FLAGS
    for cls in (Stack, Wrapper):
        assert all(getattr(cls, name) is not getattr(Scheme, name) for name in HOOKS)


@pytest.mark.sample(25)
@pytest.mark.parametrize("name", names("scheme"))
def test_laws_of_a_stack(name):
    """Stack([s]) = Stack([s, NoPE]) = Stack([NoPE, s]) = s, in all that it uses as well."""
    s = moved(scheme(name, SHAPE))
    alone, nope = logits(s), NoPE(SHAPE)
    for several in ([s], [s, nope], [nope, s], [Stack(SHAPE, [s])]):
        stack = Stack(SHAPE, several)
        assert torch.equal(logits(stack), alone)
        assert [stack.uses(hook) for hook in HOOKS] == [s.uses(hook) for hook in HOOKS]


def test_an_empty_stack_is_nope():
    assert torch.equal(logits(Stack(SHAPE, [])), logits(NoPE(SHAPE)))


@pytest.mark.sample(25)
@pytest.mark.parametrize("name", names("scheme"))
def test_in_all_layers_a_part_is_itself_and_in_none_it_is_nope(name):
    s = moved(scheme(name, SHAPE))
    if s.uses("positions") or s.scale != NoPE(SHAPE).scale:
        with pytest.raises(ValueError):
            Only(SHAPE, s, ":")
        return
    assert torch.equal(logits(Only(SHAPE, s, ":")), logits(s))
    assert torch.equal(logits(Only(SHAPE, s, [])), logits(NoPE(SHAPE)))
    assert not Only(SHAPE, s, []).uses(*HOOKS)


@pytest.mark.parametrize(
    "layers, acts",
    [
        ("0:-1", [0, 1, 2]),
        ("1:", [1, 2, 3]),
        (":2", [0, 1]),
        ("-2:", [2, 3]),
        (":", [0, 1, 2, 3]),
        ("0:9", [0, 1, 2, 3]),
        ([-1, 0], [0, 3]),
        ("3::4", [3]),
        ("::2", [0, 2]),
        ("every 2", [1, 3]),
        ("every 4", [3]),
        ("not every 4", [0, 1, 2]),
        ("not 0:-1", [3]),
        ("not ::2", [1, 3]),
    ],
)
def test_patterns_of_layers(layers, acts):
    only = Only(SHAPE, RoPE(SHAPE), layers)
    assert sorted(only.layers) == acts
    assert [only.uses("rotate", layer=n) for n in range(4)] == [n in acts for n in range(4)]


@pytest.mark.parametrize(
    "layers", ["", "2", "0:-", "a:b", "0:4:0", "every 0", "every", "not", "4", [4, 1, -5]]
)
def test_what_is_no_pattern_is_refused(layers):
    with pytest.raises(ValueError):
        Only(SHAPE, RoPE(SHAPE), layers)


def test_warns_where_a_pattern_picks_no_layer():
    shape = Shape(dim=16, heads=2, layers=2)
    with pytest.warns(UserWarning, match="layers=every 4"):
        Only(shape, RoPE(shape), "every 4")


@torch.no_grad()
def test_owners_of_attention_in_some_layers():
    linear, rope, alibi = LinearRoPE(SHAPE), RoPE(SHAPE), ALiBi(SHAPE)
    mixed = Stack(
        SHAPE,
        [
            Only(SHAPE, linear, [0, 2]),
            Only(SHAPE, rope, "every 2"),
            Only(SHAPE, alibi, [3]),
            Only(SHAPE, Window(SHAPE, 3), [1]),
        ],
    )
    q, k, v = qkv(SHAPE, T)
    layers = [
        linear,
        Stack(SHAPE, [rope, Window(SHAPE, 3)]),
        linear,
        Stack(SHAPE, [rope, alibi]),
    ]
    for layer, one in enumerate(layers):
        here = Where.whole(torch.arange(T).double(), mixed.scale, layer=layer, sees=mixed.sees)
        close(kernels.attention(mixed, q, k, v, here), one.attend(q, k, v, here))
        assert kernels.kernel(mixed, here) is kernels.kernel(one, here)
    model = around(mixed)
    shown = InspectedModel(model, model, lambda layers: model)(tokens(), attend=defined({}))
    close(shown, model(tokens()), 1e-11)
    with pytest.raises(ValueError):
        Stack(SHAPE, [Only(SHAPE, linear, [0]), LogN(SHAPE)])


NO_BIAS_BESIDE = ("shaw", "cope", "deberta", "transformer-xl", "floater-qkv")


@pytest.mark.parametrize(
    "made",
    [
        *(["urpe", "floater-qkv"], ["softmax-1", "sink-logit"], ["stick-breaking", "softmax-1"]),
        *(["stick-breaking", "rope-softpick"], ["keynorm", "cosa"], ["tupe-a", "tupe-a"]),
        *(["delta-rule", "log-n"], ["rope", "selective-rope"], ["selective-rope", "pope"]),
        *(["pope", name] for name in NO_BIAS_BESIDE),
        [RoPE(SHAPE), Stack(SHAPE, [LogN(SHAPE), RoPE(SHAPE)])],
        [RoPE(SHAPE), Only(SHAPE, Stack(SHAPE, [RoPE(SHAPE)]), [0])],
        [Only(SHAPE, URPE(SHAPE), [1]), Only(SHAPE, URPE(SHAPE), "1:")],
    ],
)
def test_two_owners_of_a_layer_are_refused(made):
    several = [scheme(part, SHAPE) if isinstance(part, str) else part for part in made]
    with pytest.raises(ValueError):
        Stack(SHAPE, several)


def test_parts_are_those_of_a_layer_and_a_sealed_scheme_is_one():
    """One walk for cards, extensions and stacks: through stacks, layers and maps of distances."""
    far = Only(SHAPE, Stack(SHAPE, [RoPE(SHAPE), constant(ALiBi(SHAPE), 4)]), "2:")
    leaky = InverseLeaky(SHAPE, RoPE(SHAPE))
    s = Stack(SHAPE, [far, LogN(SHAPE)])
    assert [type(p).__name__ for p in parts(s)] == ["RoPE", "ALiBi", "LogN"]
    assert [type(p).__name__ for p in parts(s, 0)] == ["Scheme", "LogN"]
    assert parts(leaky) == [leaky] and has(leaky, "by_phase")
    changed = s.mapped(lambda p: NoPE(SHAPE) if isinstance(p, RoPE) else p)
    assert [type(p).__name__ for p in parts(changed, 3)] == ["NoPE", "ALiBi", "LogN"]
    assert leaky.mapped(lambda p: p) is leaky


@pytest.mark.parametrize("name", ["path", "wall", "delta-rule", "linear-rope", "xpos"])
def test_what_has_no_form_without_the_causal_mask_says_so(name):
    s = Stack(SHAPE, [scheme(name, SHAPE)])
    q, k, v = qkv(SHAPE, T)
    with pytest.raises(ValueError):
        kernels.attention(s, q, k, v, replace(at(s, T), causal=False))
    with pytest.raises(ValueError):
        InspectedModel(around(s), around(s), lambda layers: around(s), causal=False)


def test_what_is_added_to_tokens_belongs_to_layer_zero():
    """In front of another layer nothing is added, and a table is out of range for nothing."""
    shape = Shape(dim=16, heads=2, layers=2, length=8, vocab=50)
    with pytest.raises(ValueError):
        Only(shape, Sinusoidal(shape), [1])
    assert Only(shape, Learned(shape), [0]).limit == 8
    with pytest.warns(UserWarning, match="acts nowhere"):
        assert Only(shape, Learned(shape), "5::4").limit == float("inf")
