"""Other implementations that warn of torch's own deprecations while they are imported."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from x_transformers.x_transformers import (
        AlibiPositionalBias,
        CoPE,
        DataDependentAlibi,
        RelativeProjPositionalBias,
        RotaryEmbedding,
        apply_rotary_pos_emb,
    )

__all__ = [
    "AlibiPositionalBias",
    "CoPE",
    "DataDependentAlibi",
    "RelativeProjPositionalBias",
    "RotaryEmbedding",
    "apply_rotary_pos_emb",
]
