"""A model of our own, read by transformers and by us again: the same logits."""

import pytest
import torch

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.export import export
from extrap.pretrained.families import mpt_slopes
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.nope import NoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError

TOKENS = torch.randint(61, (2, 24), generator=torch.Generator().manual_seed(5))
LLAMA = {"mlp": "swiglu"}
GPT2 = LAYER = {"norm": "layer"}
BLOOM = LAYER | {"embedding_norm": "layer", "mlp": "gelu-tanh"}
MPT = LAYER | {"bias": "none", "head": "shared"}
MPT_OR_BLOOM = "export: MPT (BLOOM: model.embedding_norm=layer) needs"


def model(scheme, **options) -> GPT:
    dim, heads = options.pop("dim", 32), options.pop("heads", 4)
    more = (options.get(name) for name in ("kv_heads", "head_dim"))
    shape = Shape(dim, heads, 3, 24, 61, options.get("norm", "rms"), *more)
    made = GPT(scheme(shape), 61, Decoder(dim, 3, heads, **options)).eval()
    for name, p in made.named_parameters():
        if not (options.get("bias") == "none" and name.endswith("bias")):
            p.data += 0.1 * torch.randn_like(p)
    return made


@pytest.mark.sample(8)
@torch.no_grad()
@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        (RoPE, LLAMA),
        (RoPE, LLAMA | {"kv_heads": 2, "bias": "none", "head": "shared", "eps": 1e-4}),
        (RoPE, LLAMA | {"kv_heads": 1, "bias": "attention", "head": "tied", "head_dim": 12}),
        (lambda shape: RoPE(shape, 300.0, "half"), LLAMA),
        (lambda shape: RoPE(shape, 300.0, [0, 3, 1, 2, 4, 7, 5, 6]), LLAMA),
        (Learned, GPT2),
        (Learned, GPT2 | {"mlp": "gelu-tanh", "bias": "all", "head": "shared"}),
        (Learned, GPT2 | {"mlp": "relu", "head": "tied", "ratio": 1.5}),
        (PartialRoPE, LAYER),
        (lambda shape: PartialRoPE(shape, 300.0, 0.25, "interleaved"), LAYER | {"bias": "all"}),
        (RoPE, LAYER | {"mlp": "gelu-tanh", "residual": "parallel", "head": "shared"}),
        (lambda shape: RoPE(shape, 300.0, "half"), LAYER | {"head": "tied", "ratio": 1.5}),
        (ALiBi, BLOOM),
        (ALiBi, BLOOM | {"bias": "all", "head": "shared"}),
        (ALiBi, BLOOM | {"head": "tied", "heads": 6, "dim": 48}),
        (ALiBi, MPT),
        (lambda shape: ALiBi(shape, mpt_slopes(6, 8)), MPT | {"heads": 6, "dim": 48}),
    ],
)
def test_logits_are_the_same(scheme, options, tmp_path):
    transformers = pytest.importorskip("transformers")
    ours = model(scheme, **dict(options))
    export(ours, tmp_path)
    expected = ours(TOKENS)
    theirs, info = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert not any(info[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    torch.testing.assert_close(theirs.eval()(TOKENS).logits, expected, atol=1e-4, rtol=1e-4)
    again = Checkpoint(str(tmp_path)).model()
    torch.testing.assert_close(again(TOKENS), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("scheme", "options", "expected"),
    [
        (NoPE, {}, "export: NoPE has no equal in transformers"),
        (ALiBi, {}, MPT_OR_BLOOM + " model.norm=layer"),
        (ALiBi, LAYER, MPT_OR_BLOOM + " no biases"),
        (ALiBi, MPT | {"ratio": 2.0}, MPT_OR_BLOOM + " model"),
        (ALiBi, MPT | {"head": "untied"}, MPT_OR_BLOOM + ""),
        (ALiBi, BLOOM | {"ratio": 2.0}, "export: BLOOM needs model.ratio=4"),
        (ALiBi, BLOOM | {"mlp": "gelu"}, "export: BLOOM needs model.mlp=gelu-tanh"),
        (lambda s: ALiBi(s, [0.1] * 4), BLOOM, "export: BLOOM needs scheme.slopes=null"),
        (PartialRoPE, {}, "export: GPT-NeoX needs model.norm=layer"),
        (PartialRoPE, LAYER | {"kv_heads": 2}, "export: GPT-NeoX needs model.kv_heads=null"),
        (RoPE, {}, "export: Llama needs model.mlp=swiglu"),
        (RoPE, LLAMA | {"norm": "layer"}, "export: Llama needs model.norm=rms"),
        (RoPE, LLAMA | {"bias": "all"}, "export: Llama needs model.bias=null, none or attention"),
        (RoPE, LLAMA | {"qk_norm": "head"}, "export: Llama needs model.qk_norm=null"),
        (RoPE, LLAMA | {"residual": "parallel"}, "export: Llama needs model.residual=null"),
        (Learned, GPT2 | {"mlp": "swiglu"}, "export: GPT-2 needs model.mlp=gelu"),
    ],
)
def test_what_has_no_equal_is_refused(scheme, options, expected, tmp_path):
    with pytest.raises(UserError) as error:
        export(model(scheme, **dict(options)), tmp_path / "folder")
    assert str(error.value).startswith(expected)
    assert not (tmp_path / "folder").exists()
