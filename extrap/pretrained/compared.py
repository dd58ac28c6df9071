"""The logits of a model of ours compared with those of the model of transformers that it reads."""

from typing import Any

import torch
from torch import Tensor

from extrap.model.gpt import GPT
from extrap.pretrained.plain import table_rows
from extrap.pretrained.seam import forgetting

PROBE, NEAR, PAST = 40, 128, 9
"""Tokens of the reading that compares logits: PROBE, or PAST more than L up to an L of NEAR."""

ROUNDINGS = 4
"""Kernels of transformers, eager and sdpa, are at most 3.5 roundings apart; a model whose attention
is 12 % hotter is 4.6 roundings off or more."""


def _logits(net: Any, tokens: Tensor) -> Tensor:
    with forgetting(net):
        return net(input_ids=tokens, use_cache=False).logits.float()


@torch.no_grad()
def difference(made: GPT, net: Any, length: int) -> float:
    """Returns the difference from the model's own logits, 0 for a model without storage: the
    largest in float32, 0 if it is below 1e-4 of their spread; in half precision, where single
    logits differ by rounding alone, the root of the mean square, 0 if it is below ROUNDINGS
    roundings of their spread.
    """
    weight = made.embedding.weight
    if weight.is_meta:
        return 0.0
    g, training = torch.Generator().manual_seed(0), net.training
    near = length <= NEAR and weight.device.type == "cpu"  # a GPU asserts past a table
    n = length + PAST if near and table_rows(net) is None else min(PROBE, length)
    tokens = torch.randint(len(weight), (2, n), generator=g).to(weight.device)
    net.eval()
    try:
        own = _logits(net, tokens)
    except Exception:  # of whatever class: a table or a limit that ends at L
        tokens = tokens[:, : min(PROBE, length)]
        own = _logits(net, tokens)
    apart, dtype = made.eval()(tokens).float() - own, weight.dtype
    made.train(training)
    net.train(training)
    if dtype in (torch.bfloat16, torch.float16):
        off = float(apart.square().mean().sqrt())
        most = ROUNDINGS * torch.finfo(dtype).eps * float(own.std())
    else:
        off, most = float(apart.abs().max()), 1e-4 * max(1.0, float(own.std()))
    return 0.0 if off <= most else off
