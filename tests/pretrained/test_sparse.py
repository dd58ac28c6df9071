"""Attention that sees fewer keys, or is otherwise another one, in long texts: models that extrap
reads for their logits alone, however long the text at which they change.
"""

import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaForCausalLM

from extrap.extensions.interpolation import Interpolation
from extrap.pretrained.adapter import adapt, adapted
from extrap.pretrained.plain import Plain
from extrap.pretrained.shortened import of_each_kind, shortened
from extrap.utils.errors import NotApplicable, UserError
from tests.pretrained.test_adapter import TOKENS, L, close, own_logits
from tests.support import tiny_families as families

BLOCKS = {"index_block_size": 4, "index_topk_blocks": 2, "index_head_dim": 8}
BLOCKS |= {"index_n_heads": 2, "layer_types": ["full_attention", "minimax_m3_sparse"] * 2}
SPARSE = {
    "deepseek_v32": {"index_topk": 12},
    "glm_moe_dsa": {"index_topk": 12},
    "axk2": {"index_topk": 2048},
    "hy_v4": {"index_topk": 12},
    "minimax_m3_vl_text": BLOCKS,
}


@torch.no_grad()
@pytest.mark.sample(2)
@pytest.mark.parametrize("family", SPARSE)
def test_sparse_attention_is_not_read_as_dense(family):
    model = families.made(family, **SPARSE[family])
    with pytest.raises(UserError, match=r"an argument that extrap does not read, \w*indices"):
        adapt(model, L)
    ours = adapted(model, L)
    assert isinstance(ours, Plain)
    close(ours(TOKENS), own_logits(model, TOKENS))
    with pytest.raises(NotApplicable, match="logits alone"):
        Interpolation(2.0)(ours)


class Cooler(LlamaAttention):
    """Attention that is cooler in texts of more than config.far tokens."""

    def forward(self, hidden_states, *args, **more):
        long = hidden_states.shape[1] > self.config.far
        self.scaling = self.head_dim**-0.5 * (0.5 if long else 1.0)
        return super().forward(hidden_states, *args, **more)


class Model(LlamaForCausalLM):
    def __init__(self, config):
        super().__init__(config)
        for n, layer in enumerate(self.model.layers):
            layer.self_attn = Cooler(config, n)


def made(**options):
    from transformers import LlamaConfig

    config = LlamaConfig(**{k: v for k, v in families.SMALL.items() if "slid" not in k} | options)
    torch.manual_seed(0)
    return Model(config).eval()


@pytest.mark.parametrize(
    ("options", "length", "expected"),
    [
        ({"far": L}, L, "its logits differ by"),
        ({"far": 4096, "max_position_embeddings": 4096}, 4096, "past a window, a top-k or another"),
        ({"far": 4096}, L, "past a window, a top-k or another length of its config"),
    ],
)
def test_attention_that_changes_past_a_length_is_refused(options, length, expected):
    """Past L, in a text of the model itself; past a length of the config, in a copy with shorter
    lengths.
    """
    with pytest.raises(UserError, match=expected):
        adapt(made(**options), length)


class Single(Model):
    """A model whose class makes no other one."""

    _from_config = None


@pytest.mark.parametrize(
    ("far", "context", "expected"),
    [
        (300, 400, "past a window, a top-k or another length of its config"),
        (300, 4097, r"\(Single makes no model of its config\), and 4,097 tokens are too many"),
        (0, 400, None),
    ],
)
def test_a_model_without_a_copy_is_read_itself(far, context, expected):
    model = made(far=far, max_position_embeddings=context)
    model.__class__ = Single
    if expected is None:
        assert len(adapt(model, L).layers) == 4
        return
    with pytest.raises(UserError, match=expected):
        adapt(model, L)


def test_half_precision_is_read_as_far():
    model = made(far=300, max_position_embeddings=400).bfloat16()
    model.__class__ = Single
    with pytest.raises(UserError, match="past a window, a top-k or another length of its config"):
        adapt(model, L)


class Lost(Model):
    """A model whose logits are no numbers where its context is short."""

    def forward(self, **given):
        answer = super().forward(**given)
        if self.config.max_position_embeddings < 100:
            answer.logits = answer.logits * torch.nan
        return answer


def test_a_copy_whose_logits_are_no_numbers_shows_nothing():
    model = made(far=300, max_position_embeddings=400)
    model.__class__ = Lost
    with pytest.raises(UserError, match="past a window, a top-k or another length of its config"):
        adapt(model, L)


def test_a_wrapped_model_is_compared_in_a_copy_of_its_family():
    """Its projections are other modules, its attention is that of the family."""
    model = families.made("llama", max_position_embeddings=131072)
    for layer in model.model.layers:
        layer.self_attn.q_proj = torch.nn.Sequential(layer.self_attn.q_proj)
    assert len(adapt(model, L).layers) == 4


def test_attention_that_never_changes_is_read():
    """No length of the config makes it cooler."""
    assert len(adapt(made(far=0), L).layers) == 4


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1),
        ({"layer_types": ["sliding_attention"] * 2 + ["full_attention"] * 4}, 3),
        ({"layer_types": ["full_attention"] * 5 + ["sliding_attention"]}, 6),
    ],
)
def test_a_copy_with_short_lengths_has_a_layer_of_each_kind(options, expected):
    """The comparison past every length reads no layer twice."""
    family = "gemma3_text" if options else "llama"
    model = families.made(family, num_hidden_layers=6, **options)
    layers = adapt(model, L).layers
    short = shortened(model, layers)
    fewer = of_each_kind(short, layers)
    assert len(fewer.model.layers) == expected and len(short.model.layers) == 6
