"""The shape of a GPT: the options of conf/model."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

Norm = Literal["rms", "layer"]


@dataclass(frozen=True)
class Decoder:
    """The sizes and parts of a decoder.

    Raises ValueError if heads do not divide dim, or kv_heads do not divide heads, and for a hidden
    layer without a channel.

    Args:
        dim: C, width of the residual stream
        layers: number of blocks
        heads: H
        norm: RMSNorm or LayerNorm
        mlp: activation of the hidden layer; swiglu and geglu add a gate
        ratio: width of the hidden layer over C
        head: untied; tied reads the embedding divided by sqrt(C); shared reads it as it is
        dropout: share of activations that training drops

    null leaves each option below out, and a null option is no part of a run's identity. All but
    the first are of published decoders.

    Args:
        dropout_at: null: dropout of what attention and MLP add; inputs: of what each linear
            projection of a block reads (arXiv 2610.04518, by its abstract)
        kv_heads: G heads of keys and values, each read by H / G heads of queries; null: H (arXiv
            2305.13245)
        head_dim: D; null: C / H
        bias: null: on queries, keys and values; none; attention: on the output as well; all: on the
            MLP as well
        eps: of the norms; null: the default of torch
        qk_norm: head: a norm over D of queries and keys before they turn
        residual: parallel: attention and MLP read one x (GPT-J, NeoX)
        embedding_norm: a norm of the token embedding (BLOOM)
    """

    dim: Annotated[int, Interval(ge=1, le=2**16)] = 64
    layers: Annotated[int, Interval(ge=1, le=1000)] = 2
    heads: Annotated[int, Interval(ge=1, le=2**12)] = 4
    norm: Norm = "rms"
    mlp: Literal["gelu", "gelu-tanh", "relu", "relu2", "swiglu", "geglu"] = "gelu"
    ratio: Annotated[float, Interval(gt=0, le=64)] = 4.0
    head: Literal["untied", "tied", "shared"] = "untied"
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.0

    # null leaves these out
    dropout_at: Literal["inputs"] | None = None
    kv_heads: Annotated[int, Interval(ge=1, le=2**12)] | None = None
    head_dim: Annotated[int, Interval(ge=1, le=2**16)] | None = None
    bias: Literal["none", "attention", "all"] | None = None
    eps: Annotated[float, Interval(ge=0, lt=1)] | None = None
    qk_norm: Literal["head"] | None = None
    residual: Literal["parallel"] | None = None
    embedding_norm: Norm | None = None

    def __post_init__(self) -> None:
        if self.head_dim is None and self.dim % self.heads:
            raise ValueError(f"heads={self.heads}: must divide model.dim={self.dim}")
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(
                f"kv_heads={self.kv_heads}: must divide heads={self.heads}, or null for as many"
            )
        if self.hidden < 1:
            problem = f"makes a hidden layer without a channel of model.dim={self.dim}"
            raise ValueError(f"ratio={self.ratio:g}: {problem}; give at least {1 / self.dim:g}")

    @property
    def hidden(self) -> int:
        """The width of the hidden layer."""
        return int(self.ratio * self.dim + 1e-6)
