"""Why adding positions to tokens works: their vectors are nearly orthogonal, and the logit splits
into four terms.

x_i = e_i + p_i. With norm(x) = A e + A p + c (A linear once the scale of x is taken as given), q =
W_q norm(x) and k = W_k norm(x): <q_i, k_j> = token-token + token-position + position-token +
position-position, in the first layer; c and the biases of W_q and W_k go with the token. Share of a
term: its covariance with the logit over the variance of the logit, which makes the shares sum to 1.
Of the model as constructed, with sinusoids, or of a trained run whose scheme adds to the token
embedding.

Run: python results/audit/demos addition [RUN]
"""

import inspect

import torch
from torch import Tensor, nn

from extrap.audit.subject import DEFAULT_SHAPE, gpt
from extrap.audit.trained import trained
from extrap.model import gpt as text_source
from extrap.model.gpt import GPT
from extrap.model.parts import describe_parts
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.studies.audit.demos.lines import aligned
from extrap.utils.errors import UserError

TERMS = ("token-token", "token-position", "position-token", "position-position")
TEXTS = 16
GROUPS = 8


def show(run: str | None = None) -> str:
    model = gpt(Sinusoidal(DEFAULT_SHAPE)).double() if run is None else trained(run)
    check(model, run)
    own = f"{describe_parts(model.scheme)}, trained: {run}"
    whose = "sinusoids, as constructed" if run is None else own
    return "\n\n".join(
        [
            (
                f"{whose}; L = {model.scheme.shape.length} tokens, C = {model.scheme.shape.dim} "
                "channels"
            ),
            cosines(model),
            variances(model),
            terms(model),
        ]
    )


@torch.no_grad()
def check(model: GPT, run: str | None) -> None:
    """Raises UserError for a scheme that does not add to the token embedding, or that also acts on
    queries and keys.
    """
    T = 4
    scheme = model.scheme
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(1, T, scheme.shape.dim, generator=draws, dtype=torch.float64)
    tokens = torch.zeros(1, T, dtype=torch.long)
    at = model.where(tokens).at_layer(0, x)
    zero = scheme.embed(torch.zeros_like(x), at)
    if (
        scheme.uses("rotate", "score", "attend")
        or not zero.any()
        or not torch.allclose(scheme.embed(x, at) - zero, x)
    ):
        raise UserError(
            "--run",
            run,
            f"{describe_parts(model.scheme)} does not only add positions to tokens",
            "take a run of sinusoidal or learned",
        )


@torch.no_grad()
def positions(model: GPT) -> Tensor:
    """(L, C) p_i."""
    L = model.scheme.shape.length
    C = model.scheme.shape.dim
    x = torch.zeros(1, L, C, dtype=torch.float64)
    tokens = torch.zeros(1, L, dtype=torch.long)
    at = model.where(tokens).at_layer(0, x)
    return model.scheme.embed(x, at)[0]


def cosines(model: GPT) -> str:
    """Cosine of every token vector with every position vector; independent directions in C channels
    have sd 1 / sqrt(C).
    """
    tokens = model.embedding.weight.detach()
    e = nn.functional.normalize(tokens, dim=-1)
    p = nn.functional.normalize(positions(model), dim=-1)
    cos = e @ p.T
    return "\n".join([
        f"cosine of {len(e)} token with {len(p)} position vectors",
        f"mean {cos.mean():+.4f}, sd {cos.std():.4f}, largest {cos.abs().max():.4f}",
        f"(independent directions: mean 0, sd 1 / sqrt(C) = {e.shape[1] ** -0.5:.4f})",
    ])  # fmt: skip


def variances(model: GPT) -> str:
    """Variance over tokens and over positions, channel by channel, in groups of neighbouring
    channels.
    """
    token = model.embedding.weight.detach().var(0)
    place = positions(model).var(0)
    rows = [["channels", "token", "position"]]
    for group in torch.arange(len(token)).chunk(GROUPS):
        rows.append(
            [
                f"{group[0]} to {group[-1]}",
                f"{token[group].mean():.4f}",
                f"{place[group].mean():.4f}",
            ]
        )
    pair = torch.stack([token, place])
    both = torch.corrcoef(pair)[0, 1]
    return (
        f"variance per channel, mean of each group\n{aligned(rows)}\ncorrelation over the "
        f"{len(token)} channels: {both:+.3f}"
    )


@torch.no_grad()
def split(model: GPT) -> dict[str, Tensor]:
    """{term: (B, H, T, T)} of <q_i, k_j> * scale in the first layer, for windows of the source of
    extrap/model/gpt.py as bytes.
    """
    L = model.scheme.shape.length
    block = model.blocks[0]
    text = inspect.getsource(text_source).encode()
    ids = torch.tensor(list(text))
    texts = min(TEXTS, len(ids) // L)
    windows = ids[: texts * L].view(texts, L)
    tokens = windows % model.scheme.shape.vocab
    e = model.embedding(tokens)
    p = positions(model)[None]
    norm = block.norm1
    scale = scale_of(norm, e + p)
    of_token = centred(norm, e) * scale * norm.weight
    of_place = centred(norm, p) * scale * norm.weight
    constant = getattr(norm, "bias", None)
    if constant is not None:
        of_token = of_token + constant
    q1, k1 = heads(block, of_token, block.qkv.bias)
    q2, k2 = heads(block, of_place, None)
    f = model.scheme.scale
    products = [q1 @ k1.mT, q1 @ k2.mT, q2 @ k1.mT, q2 @ k2.mT]
    logits = [product * f for product in products]
    return dict(zip(TERMS, logits, strict=True))


def centred(norm: nn.Module, x: Tensor) -> Tensor:
    if isinstance(norm, nn.LayerNorm):
        return x - x.mean(-1, keepdim=True)
    return x


def scale_of(norm: nn.Module, x: Tensor) -> Tensor:
    """(B, T, 1): what the norm multiplies the (centred) x by."""
    eps = norm.eps
    if eps is None:
        eps = torch.finfo(x.dtype).eps
    variance = centred(norm, x).square().mean(-1, keepdim=True)
    return (variance + eps).rsqrt()


def heads(block: nn.Module, x: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """q, k (B, H, T, D) of a part of the normed input."""
    qkv = nn.functional.linear(x, block.qkv.weight, bias)
    of_heads = qkv.unflatten(-1, (3, block.heads, -1))
    q, k, _ = of_heads.permute(2, 0, 3, 1, 4)
    return q, k


def terms(model: GPT) -> str:
    parts = split(model)
    L = model.scheme.shape.length
    seen = torch.ones(L, L).tril().bool()
    visible = [part[..., seen].flatten() for part in parts.values()]
    flat = torch.stack(visible)
    total = flat.sum(0)
    rows = [["term of the logit", "mean", "sd", "share of variance"]]
    for name, term in zip(TERMS, flat, strict=True):
        products = (term - term.mean()) * (total - total.mean())
        covariance = products.mean()
        share = covariance / total.var(correction=0)
        rows.append([name, f"{term.mean():+.4f}", f"{term.std():.4f}", f"{share:+.3f}"])
    rows.append(["sum", f"{total.mean():+.4f}", f"{total.std():.4f}", "+1.000"])
    return (
        "first layer, all heads, pairs that the causal mask leaves, text: the source of "
        f"extrap/model/gpt.py\n{aligned(rows)}"
    )
