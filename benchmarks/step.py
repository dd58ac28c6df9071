"""A training step of the whole program beside a step of a bare loop, as a ratio: python
benchmarks/step.py

The bare loop is what a script of one page does: LayerNorm, learned positions, fused causal
attention, GELU, cross-entropy over every token, fused AdamW, clipping. Both read the same number of
tokens; one thread, processor time, medians of interleaved rounds. Two shapes: text alone in windows
of the usual length (48 windows of 64 tokens, width 64, 2 layers) and 16 windows of 256 tokens,
width 128, 4 layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.measure import interleaved, stepper, write

SHAPES = {
    "C=64 T=64": {"dim": 64, "layers": 2, "heads": 4, "length": 64, "size": 48},
    "C=128 T=256": {"dim": 128, "layers": 4, "heads": 4, "length": 256, "size": 16},
}
VOCAB = 577


class BareBlock(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(o.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Bare(nn.Module):
    def __init__(self, dim: int, layers: int, heads: int, length: int):
        super().__init__()
        self.tokens, self.slots = nn.Embedding(VOCAB, dim), nn.Embedding(length, dim)
        self.blocks = nn.Sequential(*(BareBlock(dim, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, VOCAB, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.tokens(x) + self.slots.weight[: x.shape[1]])))


def bare(dim: int, layers: int, heads: int, length: int, size: int):
    model = Bare(dim, layers, heads, length)
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), fused=True)
    x = torch.randint(VOCAB, (size, length + 1))

    def step() -> None:
        logits = model(x[:, :-1])
        F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
        adamw.zero_grad()

    return step


def words(dim: int, layers: int, heads: int, length: int, size: int, scheme: str) -> list[str]:
    model = (f"model.dim={dim}", f"model.layers={layers}", f"model.heads={heads}")
    return [f"scheme={scheme}", "data=text", *model, f"data.length={length}",
            f"data.text.size={size}"]  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for name, shape in SHAPES.items():
        calls = {"bare loop": bare(**shape)}
        for scheme in ("learned", "rope"):
            calls[scheme] = stepper(words(**shape, scheme=scheme))
        took = interleaved(calls, rounds=9, each=5)
        for what, seconds in took.items():
            ratio = seconds / took["bare loop"]
            rows.append(
                {"shape": name, "what": what, "ms": f"{1e3 * seconds:.2f}", "ratio": f"{ratio:.3f}"}
            )
    write("step", rows)


if __name__ == "__main__":
    main()
