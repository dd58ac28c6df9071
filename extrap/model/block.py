"""One layer of a GPT: attention, then a two-layer MLP."""

from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from extrap.model.attention import attention
from extrap.model.decoder import Decoder, Norm
from extrap.model.past import Past
from extrap.model.scheme import Scheme, Where
from extrap.model.steady import joined


class SquaredReLU(nn.Module):
    """max(x, 0)**2, arXiv 2109.08668."""

    def forward(self, x: Tensor) -> Tensor:
        return x.relu().square()


GELUTanh = partial(nn.GELU, approximate="tanh")

ACTIVATIONS = {"gelu": nn.GELU, "gelu-tanh": GELUTanh, "relu": nn.ReLU, "relu2": SquaredReLU}
GATES = {"swiglu": nn.SiLU, "geglu": GELUTanh}
"""Activations of a factor on the hidden layer, arXiv 2002.05202."""

BIASED = {
    None: ("qkv",),
    "none": (),
    "attention": ("qkv", "out"),
    "all": ("qkv", "out", "gate", "up", "down"),
}


def norm_of(kind: Norm, config: Decoder, width: int) -> nn.Module:
    """Returns a norm over `width` channels."""
    eps: dict[str, Any] = {} if config.eps is None else {"eps": config.eps}
    norms = {"rms": nn.RMSNorm, "layer": nn.LayerNorm}
    return norms[kind](width, **eps)


class Block(nn.Module):
    """A layer of the GPT: attention, then an MLP, each behind a norm.

    x <- x + attention(norm(x)),   x <- x + mlp(norm(x))

    If attention and MLP are parallel, both read the same x.
    """

    def __init__(self, config: Decoder):
        super().__init__()
        dim = config.dim
        biased = BIASED[config.bias]
        self.heads = config.heads
        self.kv_heads = config.kv_heads or config.heads
        self.head_dim = config.head_dim or dim // config.heads
        self.parallel = config.residual == "parallel"
        self.norm1 = norm_of(config.norm, config, dim)
        self.norm2 = norm_of(config.norm, config, dim)
        all_heads = self.heads + 2 * self.kv_heads
        self.qkv = nn.Linear(dim, all_heads * self.head_dim, bias="qkv" in biased)
        self.out = nn.Linear(self.heads * self.head_dim, dim, bias="out" in biased)
        self.clip: float | None = None  # of queries, keys and values, in published models alone
        self.qk_norm = config.qk_norm
        if config.qk_norm is not None:
            self.norm_q = norm_of(config.norm, config, self.head_dim)
            self.norm_k = norm_of(config.norm, config, self.head_dim)
        hidden = config.hidden
        self.gate = None
        if config.mlp in GATES:
            self.gate = nn.Linear(dim, hidden, bias="gate" in biased)
        self.up = nn.Linear(dim, hidden, bias="up" in biased)
        activation = (GATES | ACTIVATIONS)[config.mlp]
        self.act = activation()
        self.down = nn.Linear(hidden, dim, bias="down" in biased)
        inputs = 0.0
        outputs = config.dropout
        if config.dropout_at == "inputs":
            inputs, outputs = outputs, inputs
        self.drop_inputs = nn.Dropout(inputs)
        self.drop_outputs = nn.Dropout(outputs)

    def project(self, normed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Projects (B, T, C) to unrotated queries (B, H, T, D), keys and values (B, G, T, D)."""
        sizes = [n * self.head_dim for n in (self.heads, self.kv_heads, self.kv_heads)]
        qkv = self.qkv(self.drop_inputs(normed))
        if self.clip is not None:
            qkv = qkv.clamp(-self.clip, self.clip)
        of_tokens = [part.unflatten(-1, (-1, self.head_dim)) for part in qkv.split(sizes, -1)]
        q, k, v = (part.transpose(1, 2) for part in of_tokens)
        if self.qk_norm is not None:
            q = self.norm_q(q)
            k = self.norm_k(k)
        return q, k, v

    def feed(self, x: Tensor) -> Tensor:
        """Returns the MLP of norm(x), (B, T, C) -> (B, T, C)."""
        read = self.drop_inputs(self.norm2(x))
        if self.gate is None:
            hidden = self.act(self.up(read))
        else:
            factor = self.act(self.gate(read))
            hidden = factor * self.up(read)
        return self.down(self.drop_inputs(hidden))

    def forward(
        self,
        x: Tensor,
        scheme: Scheme,
        at: Where,
        layer: int,
        last: int | None = None,
        past: Past | None = None,
    ) -> Tensor:
        """(B, T, C) -> (B, T, C), or (B, last, C) if later layers need the last positions alone.
        past: of the tokens before x, to which this call adds x.
        """
        x = embedded(scheme, x, at, layer)
        normed = self.norm1(x)
        q, k, v = self.project(normed)
        if past is not None:
            normed, q, k, v = joined(past, scheme, layer, normed, q, k, v)
        rows = x.shape[1]
        new = rows if last is None else last
        here = at.at_layer(layer, normed)
        o = attention(scheme, q, k, v, here, at.length - new)
        x = x[:, rows - new :]
        o = o.transpose(1, 2).flatten(2)
        o = self.out(self.drop_inputs(o))
        o = self.drop_outputs(o)
        if self.parallel:
            fed = self.drop_outputs(self.feed(x))
            return x + o + fed
        x = x + o
        fed = self.drop_outputs(self.feed(x))
        return x + fed


def embedded(scheme: Scheme, x: Tensor, at: Where, layer: int) -> Tensor:
    """Returns the input of a layer behind the scheme's hook, x the last tokens of the text. The
    hook sees the whole text, with zeros in place of the tokens before x.
    """
    before = at.length - x.shape[1]
    if not before:
        return scheme.embed(x, at.at_layer(layer, x))
    if not scheme.uses("embed", layer=layer):
        return x
    whole = F.pad(x, (0, 0, before, 0))
    here = at.at_layer(layer, whole)
    return scheme.embed(whole, here)[:, before:]


def again(block: nn.Module, x: Tensor, scheme: Scheme, at: Where, *more: Any) -> Tensor:
    """Returns the output of a block. The backward computes the block again, so that memory holds
    the input of every layer alone. Each layer has a memo of its own: both computations must do the
    same.
    """

    def once(x: Tensor) -> Tensor:
        own = replace(at, memo={})
        return block(x, scheme, own, *more)

    return checkpoint(once, x, use_reentrant=False)  # type: ignore[return-value]
