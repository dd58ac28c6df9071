"""Maps of distances against the score in phases at the mapped distances."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model import attention as kernels
from extrap.model.distance_maps import DualChunk, InCache, constant, grouped, leaky, shifted
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.scheme import weights as scheme_weights
from extrap.model.stack import Only, Stack
from extrap.schemes.polar import PolarAttention
from extrap.schemes.rope import RoPE
from tests.support import discover
from tests.support.explicit_phase import logits
from tests.support.scheme_case import at, causal, close, lower, moved, qkv

SHAPE = Shape(dim=16, heads=2, length=64)


class Distance(Scheme):
    """A bias that is minus the distance in every head, so that the weights of equal queries say at
    which distances keys lie.
    """

    def distance_bias(self, d, layer):
        return -d.expand(self.shape.heads, *d.shape)


def distances(mapped: Scheme, T: int) -> torch.Tensor:
    """(T, T) D_ij of a map around Distance, 0 above the diagonal."""
    here = at(mapped, T)
    nothing = torch.zeros(1, SHAPE.heads, T, SHAPE.head_dim, dtype=torch.float64)
    b = mapped.bias(*mapped.rotate(nothing, nothing, here), here)
    return (-b.view(-1, T, T)[0]).masked_fill(~lower(T), 0)


def mapped_distances(T: int, name: type, **options) -> torch.Tensor:
    """The formulas of the maps as a double loop."""

    def entry(i: int, j: int) -> float:
        n = i - j
        if name is InCache:
            sinks, recent = options["sinks"], options["recent"]
            return n if n < recent or i < sinks + recent else sinks + recent - 1 - j
        w = options["shift" if name is shifted else "width"]
        if n < w:
            return n
        if name is constant:
            return w
        if name is shifted:
            return n - w + options["local"]
        return (
            w + (n - w) / options["k"]
            if name is leaky
            else i // options["group"] - j // options["group"] + w - w // options["group"]
        )

    return torch.tensor(
        [[entry(i, j) if j <= i else 0 for j in range(T)] for i in range(T)], dtype=torch.float64
    )


MAPS = st.one_of(
    st.builds(lambda w: (constant, {"width": w}), st.integers(1, 40)),
    st.builds(
        lambda w, k: (leaky, {"width": w, "k": k}),
        st.integers(1, 40),
        st.sampled_from([0.25, 1.0, 1.5, 3.0, 16.0]),
    ),
    st.builds(
        lambda g, n: (grouped, {"width": g * n, "group": g}), st.integers(1, 7), st.integers(1, 5)
    ),
    st.builds(
        lambda w, n: (shifted, {"shift": w + n, "local": w}), st.integers(1, 9), st.integers(0, 9)
    ),
    st.builds(
        lambda s, r: (InCache, {"sinks": s, "recent": r}), st.integers(0, 5), st.integers(1, 20)
    ),
)


@given(
    chosen=MAPS,
    T=st.integers(1, 30),
    rows=st.sampled_from([1, 4, 7, 256]),
    layout=st.sampled_from(["interleaved", "half"]),
)
@settings(max_examples=40, deadline=None)
def test_scores_are_those_in_phases_at_the_mapped_distances(chosen, T, rows, layout):
    name, options = chosen
    rope = RoPE(SHAPE, 100.0, layout)
    mapped, (q, k, v) = name(rope, **options), qkv(SHAPE, T)
    keys = torch.arange(T)
    # far pairs of a cache that are not sinks are hidden by its mask, not by the map
    seen = (
        lower(T) & ((keys < options["sinks"]) | (keys[:, None] - keys < options["recent"]))
        if name is InCache
        else lower(T)
    )
    order = torch.arange(8).view(2, -1).T.flatten() if layout == "half" else torch.arange(8)
    s = (
        logits(q[..., order], k[..., order], mapped_distances(T, name, **options), rope.spectrum(T))
        * 8**-0.5
    )
    here = Where.whole(
        keys.double(), mapped.scale, sees=(lambda a: seen[a.i][:, a.j]) if name is InCache else None
    )
    expected = s.masked_fill(~seen, -torch.inf).softmax(-1) @ v
    old, kernels.ROWS = kernels.ROWS, rows
    try:
        close(kernels.attention(mapped, q, k, v, here), expected, 1e-11)
    finally:
        kernels.ROWS = old


CHAINS = [
    [(constant, {"width": 9}), (constant, {"width": 4})],
    [(leaky, {"width": 9, "k": 2.0}), (leaky, {"width": 4, "k": 4.0})],
    [(leaky, {"width": 3, "k": 0.25}), (leaky, {"width": 5, "k": 2.0})],
    [(leaky, {"width": 9, "k": 2.0}), (constant, {"width": 11}), (leaky, {"width": 4, "k": 3.0})],
]


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("rows", [1, 7, 256])
def test_maps_in_maps_are_maps_of_mapped_distances(chain, rows, monkeypatch):
    """The outer map is applied first: the scheme inside it is handed its distances."""
    monkeypatch.setattr(kernels, "ROWS", rows)

    def distance(n: float) -> float:
        for name, options in chain:
            if n >= (w := options["width"]):
                n = w if name is constant else w + (n - w) / options["k"]
        return n

    T, (q, k, v) = 24, qkv(SHAPE, 24)
    rope = RoPE(SHAPE, 100.0)
    mapped: Scheme = rope
    for name, options in reversed(chain):
        mapped = name(mapped, **options)
    n = torch.tensor(
        [[distance(max(i - j, 0)) for j in range(T)] for i in range(T)], dtype=torch.float64
    )
    s = logits(q, k, n, rope.spectrum(T)) * 8**-0.5
    expected = causal(s) @ v
    close(mapped.attend(q, k, v, at(mapped, T)), expected, 1e-11)
    close(kernels.attention(mapped, q, k, v, at(mapped, T)), expected, 1e-11)


@pytest.mark.parametrize("make", [lambda s: constant(s, 3), lambda s: InCache(s, 2, 4)])
@pytest.mark.parametrize("bias", ["alibi", "cope"])
@torch.no_grad()
def test_a_bias_of_some_layers_is_zero_in_the_others(make, bias):
    shape = Shape(dim=16, heads=2, layers=2, length=64)
    one = discover.scheme(bias, shape)
    s, (q, k, v) = make(Stack(shape, [RoPE(shape), Only(shape, one, [1])])), qkv(shape, 12)
    without, with_it = make(RoPE(shape)), make(Stack(shape, [RoPE(shape), one]))
    for layer, other in enumerate((without, with_it)):
        close(
            kernels.attention(s, q, k, v, at(s, 12, layer)),
            other.attend(q, k, v, at(other, 12, layer)),
        )


@pytest.mark.parametrize(
    "name",
    [
        *("alibi", "kerple-log", "t5", "sandwich", "xpos"),
        *("transformer-xl", "shaw", "deberta", "vo-rope", "t5-urpe"),
    ],
)
@torch.no_grad()
def test_every_part_of_attention_acts_at_the_mapped_distances(name, monkeypatch):
    """A double loop: pair by pair, a whole attention in which every distance is D_ij, of which only
    entry (i, j) is used.
    """
    monkeypatch.setattr(kernels, "ROWS", 5)
    inner, T = discover.gpt(name).scheme, 14
    mapped, (q, k, v) = grouped(inner, 4, 2), qkv(inner.shape, T)
    here, distance = (
        Where.whole(torch.arange(T).double(), inner.scale),
        mapped_distances(T, grouped, width=4, group=2),
    )

    def alone(d: float) -> tuple[torch.Tensor, torch.Tensor, Where]:
        there = here.moved(torch.full_like(here.q, d), torch.zeros_like(here.k), f"at {d}")
        return *inner.rotate(q, k, there), there

    s = torch.empty(2, inner.shape.heads, T, T, dtype=torch.float64)
    mixes = {}
    for d in distance.unique().tolist():
        q_d, k_d, there = alone(d)
        at_d, one = inner.score(q_d, k_d, there), distance == d
        for b in (inner.distance_bias(there.distance, 0), inner.bias(q_d, k_d, there)):
            at_d = at_d if b is None else at_d + b
        s = torch.where(one, at_d, s)
        mixes[d] = one, there
    a = causal(s)
    expected = sum(inner.mix(a * one, v, there) for one, there in mixes.values())
    close(kernels.attention(mapped, q, k, v, here), expected, 1e-10)


class Everywhere(Scheme):
    """An output of its own at every token, beside what attention finds."""

    def mix(self, a, v, at):
        return a @ v + 1.0


MAPS = {
    "constant": lambda s: constant(s, 3),
    "leaky": lambda s: leaky(s, 3, 2.0),
    "grouped": lambda s: grouped(s, 4, 2),
    "shifted": lambda s: shifted(s, 5, 2),
    "cache": lambda s: InCache(s, 2, 4),
    "chunks": lambda s: DualChunk(s, 6, 2),
}


@pytest.mark.parametrize("make", MAPS.values(), ids=MAPS)
@torch.no_grad()
def test_what_a_mix_adds_by_itself_counts_once_under_a_map(make):
    """A mix has no coordinates here, so that a map changes the weights alone."""
    T, (q, k, v) = 14, qkv(SHAPE, 14)
    for part in (moved(PolarAttention(SHAPE)), Everywhere(SHAPE)):
        s = make(Stack(SHAPE, [RoPE(SHAPE), part]))
        here = at(s, T)
        a = scheme_weights(s, *s.rotate(q, k, here), here)
        close(kernels.attention(s, q, k, v, here), part.gate(part.mix(a, v, here), here), 1e-10)


@pytest.mark.parametrize("farthest, window", [(6, 2), (7, 3), (8, 1), (6, 3)])
def test_dual_chunks_as_in_the_authors_code(farthest, window):
    """The positions that it gives to queries within a chunk, towards the one before and towards all
    others, and to keys, walked chunk by chunk.
    """
    T, s = 23, farthest - window
    expected = torch.zeros(T, T, dtype=torch.float64)
    for i in range(T):
        for j in range(i + 1):
            chunks = i // s - j // s
            if chunks == 0:
                of_query = i % s
            elif chunks == 1:
                of_query = min(i % s + s, farthest)
            else:
                of_query = min(s - 1 + s, farthest)
            expected[i, j] = of_query - j % s
    ours = distances(DualChunk(Distance(SHAPE), farthest, window), T)
    close(ours, expected)
    near = (torch.arange(T)[:, None] - torch.arange(T)).double()
    together = (near < window) & lower(T)
    close(ours[together], near[together])
    assert float(ours.max()) <= farthest and float(ours.min()) >= 0
