"""StreamingLLM in parallel against a loop with a real cache; LM-Infinite against its distances;
both masks against their definition.
"""

import pytest
import torch

from extrap.extensions.dual_chunk import DualChunkAttention
from extrap.extensions.rerope import LeakyReRoPE, ReRoPE
from extrap.extensions.self_extend import SelfExtend
from extrap.extensions.shifted_positions import STRING
from extrap.extensions.streaming import LMInfinite, StreamingLLM
from extrap.model import attention as kernels
from extrap.model.distance_maps import InCache
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape, Where, attend_rows
from extrap.schemes.rope import RoPE
from extrap.utils.errors import NotApplicable
from tests.support import discover
from tests.support.explicit_phase import logits
from tests.support.scheme_case import close, lower, qkv, text


def stream(
    model: GPT, tokens: torch.Tensor, sinks: int, recent: int, in_cache: bool
) -> torch.Tensor:
    """(B, T, V), one token after the other. Each layer keeps keys, not yet turned, and values of
    the first and last tokens.

    in_cache: positions are places in the cache, otherwise places in the text.
    """
    kept: list[list[tuple[int, torch.Tensor, torch.Tensor]]] = [[] for _ in model.blocks]
    out = []
    for t in range(tokens.shape[1]):
        x = model.embedding(tokens[:, t : t + 1])
        for layer, (block, cache) in enumerate(zip(model.blocks, kept, strict=True)):
            one = torch.tensor([t])
            x = model.scheme.embed(
                x, Where(one.double(), one.double(), one, one, 1, 1.0, layer, tokens=tokens)
            )
            normed = block.norm1(x)
            q, k, v = block.qkv(normed).view(len(x), 1, 3, block.heads, -1).permute(2, 0, 3, 1, 4)
            cache.append((t, k, v))
            if len(cache) > sinks + recent:
                del cache[sinks]
            j = torch.tensor([n for n, _, _ in cache])
            place = torch.arange(len(cache)).double() if in_cache else j.double()
            at = Where(
                place[-1:],
                place,
                one,
                j,
                t + 1,
                model.scheme.scale,
                layer,
                sees=lambda at: torch.ones(1, len(at.j)) > 0,
            )
            q, k = model.scheme.rotate(q, torch.cat([k for _, k, _ in cache], 2), at)
            o = attend_rows(model.scheme, q, k, torch.cat([v for _, _, v in cache], 2), at)
            x = x + block.out(o.transpose(1, 2).flatten(2))
            x = x + block.down(block.act(block.up(block.norm2(x))))
        out.append(model.logits(model.norm(x)))
    return torch.cat(out, 1)


BY_DISTANCE = [
    *("rope", "rope-half", "xpos", "alibi", "t5", "kerple-log", "transformer-xl", "vo-rope"),
    "rope-logn-softmax1",
]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [*BY_DISTANCE, "nope", "sinusoidal", "cope", "fire"])
@pytest.mark.parametrize("sinks, recent", [(4, 60), (2, 9), (0, 7)])
@torch.no_grad()
def test_parallel_equals_token_by_token(name, sinks, recent):
    """Where attention is no function of the distance, the mask acts alone."""
    model, x = discover.gpt(name), text(sinks + recent + 12, batch=1)
    extended = StreamingLLM(sinks, recent)(model)
    assert any(isinstance(s, InCache) for s in extended.scheme.modules()) == (name in BY_DISTANCE)
    close(extended(x), stream(model, x, sinks, recent, name in BY_DISTANCE), 1e-9)


@torch.no_grad()
def test_sinks_of_lm_infinite_are_no_farther_than_the_training_length():
    shape, T = Shape(dim=16, heads=2, length=8), 30
    rope, (q, k, v), i = RoPE(shape), qkv(shape, 30), torch.arange(30)
    n = i[:, None] - i
    seen = lower(T) & ((i < 2) | (n < 5))
    s = logits(q, k, n.clamp(max=8).double(), rope.spectrum(T)) * 8**-0.5
    expected = s.masked_fill(~seen, -torch.inf).softmax(-1) @ v
    scheme = LMInfinite(2, 5).extend(rope)
    at = Where.whole(i.double(), scheme.scale, sees=scheme.sees)
    assert torch.equal(at.visible, seen)
    close(kernels.attention(scheme, q, k, v, at), expected, 1e-11)


def test_the_window_of_lm_infinite_holds_the_training_length_beside_its_sinks():
    """As its authors convert a model: `local_branch` the training length, `global_branch` 10."""
    scheme = LMInfinite().extend(RoPE(Shape(dim=16, heads=2, length=8)))
    i = torch.arange(30)
    at = Where.whole(i.double(), scheme.scale, sees=scheme.sees)
    n = i[:, None] - i
    assert torch.equal(at.visible, lower(30) & ((i < 10) | (n < 8)))


@pytest.mark.parametrize(
    "method", [ReRoPE(), LeakyReRoPE(), SelfExtend(), STRING(), DualChunkAttention()]
)
def test_places_in_a_cache_get_no_other_distances(method):
    """A map over the cache would put its sinks at distances of no rule; the other order works."""
    model = discover.gpt("rope")
    cached = StreamingLLM(2, 20)(model)
    with pytest.raises(NotApplicable):
        method(cached)
    assert StreamingLLM(2, 20)(method(model)).scheme is not None
