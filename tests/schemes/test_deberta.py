"""DeBERTa against transformers' DisentangledSelfAttention, and loops of the code's and
the paper's index.
"""

from types import SimpleNamespace

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.deberta import DeBERTa
from tests.support.scheme_case import at, close, lower, moved, qkv, weights

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("terms", ["both", "c2p", "p2c"])
@pytest.mark.parametrize(
    "T, heads, width, span", [(1, 1, 4, 2), (6, 2, 6, 8), (20, 3, 8, 4), (30, 4, 2, 16)]
)
@torch.no_grad()
def test_equals_transformers(terms, T, heads, width, span):
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

    C = heads * width
    s = moved(DeBERTa(Shape(dim=C, heads=heads, layers=2, length=32), span, terms)).float()
    config = SimpleNamespace(
        hidden_size=C,
        num_attention_heads=heads,
        relative_attention=True,
        position_buckets=-1,
        max_relative_positions=span,
        pos_att_type=["c2p", "p2c"] if terms == "both" else [terms],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    oracle = DisentangledSelfAttention(config).eval()
    for ours, theirs in ((s.key, "pos_key_proj"), (s.query, "pos_query_proj")):
        if ours is not None:
            getattr(oracle, theirs).weight.data, getattr(oracle, theirs).bias.data = (
                ours[1].T,
                torch.zeros(C),
            )
    x = torch.randn(2, T, C)
    table = torch.cat(
        [torch.randn(span, C), s.norm(s.table)]
    )  # a causal decoder never meets their first half
    theirs = oracle(x, lower(T).expand(2, 1, T, T), rel_embeddings=table)[0]
    q, k, v = (
        f(x).unflatten(-1, (heads, width)).transpose(1, 2)
        for f in (oracle.query_proj, oracle.key_proj, oracle.value_proj)
    )
    close(s.attend(q, k, v, at(s, T, layer=1)).transpose(1, 2).flatten(2), theirs, 1e-5)


def clip(n: int, last: int) -> int:
    return max(0, min(n, last))


@pytest.mark.parametrize("form", ["code", "paper"])
@torch.no_grad()
def test_the_papers_sum_over_the_full_table(form):
    s, T, span = moved(DeBERTa(SHAPE, 3, p2c_index=form)), 9, 3
    q, k, _ = qkv(SHAPE, T)
    ours = weights(s, q, k, at(s, T, layer=1))
    p = s.norm(s.table)
    if form == "code":
        p = torch.cat([torch.full((span, 12), torch.nan, dtype=torch.float64), p])
    kr, qr = p @ s.key[1], p @ s.query[1]
    for h in range(2):
        own = slice(6 * h, 6 * h + 6)
        for i in range(T):
            logits = []
            for j in range(i + 1):
                c2p = q[0, h, i] @ kr[clip(i - j + span, 2 * span - 1), own]
                back = j - i if form == "paper" else i - j
                p2c = k[0, h, j] @ qr[clip(back + span, 2 * span - 1), own]
                logits.append((q[0, h, i] @ k[0, h, j] + c2p + p2c) / 18**0.5)
            close(ours[0, h, i, : i + 1], torch.stack(logits).softmax(0))
