"""Which layout of RoPE is faster here: python benchmarks/rope_layout.py

Rotating q and k of a training batch, forward and backward, best of many; then a training step of
the default model. Expect interleaved to win on a CPU: neighbours are one complex number, so a pair
turns in one product.
"""

from time import perf_counter

import torch

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.rotary import Layout
from extrap.model.scheme import Shape, Where
from extrap.schemes.rope import RoPE

SHAPE = Shape(dim=64, heads=4, layers=2, length=64, vocab=577)
BATCH = 64


def rotation(layout: Layout) -> float:
    """Seconds to rotate q and k once, forward and backward."""
    rope = RoPE(SHAPE, layout=layout)
    x = torch.randn(BATCH, SHAPE.length, 2, SHAPE.heads, SHAPE.head_dim, requires_grad=True)
    start = perf_counter()
    at = Where.whole(torch.arange(SHAPE.length, dtype=torch.float64), rope.scale)
    q, k = rope.rotate(*x.permute(2, 0, 3, 1, 4), at)
    torch.autograd.grad((q, k), x, (torch.ones_like(q), torch.ones_like(k)))
    return perf_counter() - start


def step(layout: Layout) -> float:
    """Seconds of one forward and backward of the model."""
    torch.manual_seed(0)
    model = GPT(
        RoPE(SHAPE, layout=layout), SHAPE.vocab, Decoder(SHAPE.dim, SHAPE.layers, SHAPE.heads)
    )
    tokens = torch.randint(SHAPE.vocab, (BATCH, SHAPE.length))
    start = perf_counter()
    model(tokens).square().mean().backward()
    return perf_counter() - start


if __name__ == "__main__":
    torch.set_num_threads(1)
    for what, measure, times in (("rotation", rotation, 100), ("training step", step, 40)):
        both = [
            (measure("interleaved"), measure("half")) for _ in range(times)
        ]  # in turn, so that both meet the same machine
        interleaved, half = map(min, zip(*both, strict=True))
        print(
            f"{what:14} interleaved {interleaved * 1e3:7.3f} ms   half {half * 1e3:7.3f} ms   "
            f"half / interleaved {half / interleaved:.2f}"
        )
