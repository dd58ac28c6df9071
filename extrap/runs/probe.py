"""A scheme tried out before it is trained: milliseconds, in float64.

What is trained for hours must be a language model: the logits of a token depend on no later token,
and the same text gives the same logits. What is measured must be what the scheme defines: the
kernel computes `attend`. Schemes of extrap are held to this by tests; those of others by this.
"""

import torch
from torch import Tensor

from extrap.model.attention import kernel
from extrap.model.gpt import GPT
from extrap.utils.errors import UserError

TOKENS = 48
CLOSE = 1e-6


@torch.no_grad()
def check_scheme(model: GPT, name: str) -> None:
    """Raises UserError for a scheme that looks ahead, gives other logits for the same text, or
    whose kernel is not its definition.

    Args:
        model: one whose parameters may be changed; those of the scheme are moved off their initial
            values, behind which a fault could hide
        name: what people chose
    """
    draws = torch.Generator().manual_seed(0)
    model = model.double().eval()
    for p in model.scheme.parameters():
        p.add_(0.3 * torch.randn(p.shape, generator=draws, dtype=p.dtype))
    shape = model.scheme.shape
    n = min(TOKENS, shape.length)
    text = torch.randint(0, shape.vocab, (1, n), generator=draws)
    half = n // 2
    other = text.clone()
    other[:, half:] = (other[:, half:] + 1) % shape.vocab
    logits = model(text)
    if _apart(logits, model(text)):
        raise UserError(
            f"scheme={name}: gives other logits when it reads the same text again; "
            "outside training nothing of a scheme may be random"
        )
    if _apart(logits[:, :half], model(other)[:, :half]):
        raise UserError(
            f"scheme={name}: looks ahead, logits of the first {half} tokens depend on later ones; "
            "a hook must mask what at.visible does"
        )
    at = model.where(text).at_layer(0, torch.randn(1, n, shape.dim, generator=draws).double())
    q, k, v = (
        torch.randn(1, heads, n, shape.head_dim, generator=draws).double()
        for heads in (shape.heads, shape.kv_heads or shape.heads, shape.kv_heads or shape.heads)
    )
    if shape.kv_heads in (None, shape.heads):
        computed = kernel(model.scheme, at)(model.scheme, q, k, v, at)
        if _apart(computed, model.scheme.attend(q, k, v, at)):
            raise UserError(
                f"scheme={name}: its kernel is not its definition; "
                "the hooks that it overrides disagree with its `attend`"
            )


def _apart(a: Tensor, b: Tensor) -> bool:
    """Whether two results differ by more than rounding; undefined ones agree where both are."""
    return not torch.allclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True)
