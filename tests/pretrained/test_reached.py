"""Which families the adapter reaches, what it says of their layers, and what it refuses."""

import json

import pytest
import torch
from torch import nn

from extrap.extensions.direct import Direct
from extrap.extensions.interpolation import Interpolation
from extrap.model.inspection import InspectedModel
from extrap.pretrained.adapter import Adapted, adapt
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.plain import Plain
from extrap.pretrained.table import layer_table
from extrap.utils.errors import NotApplicable, UserError
from tests.pretrained.test_adapter import (
    EVERY,
    FACTOR,
    INSIDE,
    REACHED,
    TOKENS,
    L,
    close,
    own_logits,
)
from tests.support import tiny_families as families


def test_the_table_of_layers_says_what_is_where(tmp_path):
    families.made("qwen3_next").save_pretrained(tmp_path)
    rows = layer_table(Checkpoint(str(tmp_path)).model(empty=True))
    assert [row["turns"] for row in rows] == [None, True, None, True]
    assert rows[0]["parts"].startswith("stays as it is") and rows[1]["pairs"] == 1
    rows = layer_table(adapt(families.made("smollm3"), L))
    assert [row["turns"] for row in rows] == [True, True, True, False]
    assert (rows[0]["base"], rows[0]["channels"], rows[3]["base"]) == (2e6, 8, None)


@torch.no_grad()
def test_a_model_without_storage_is_probed_alike(tmp_path):
    theirs = families.made("gemma3_text", sliding_window=9)
    theirs.save_pretrained(tmp_path)
    full, empty = (Checkpoint(str(tmp_path)).model(empty=each) for each in (False, True))
    assert isinstance(empty, Adapted) and empty.net.device.type == "meta"
    assert layer_table(full) == layer_table(empty)
    shapes = [{n: p.shape for n, p in m.named_parameters()} for m in (full, empty)]
    assert shapes[0] == shapes[1]


class Lying(nn.Module):
    """A layer of attention that counts positions from somewhere else, unseen by a probe."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, position_ids):
        return self.inner(x, position_ids * (1 + (position_ids.shape[-1] > families.L // 2)))


def test_a_probe_that_is_not_the_model_is_refused():
    model = families.made("llama")
    model.model.rotary_emb = Lying(model.model.rotary_emb)
    with pytest.raises(UserError, match=r"model_type=llama: its logits differ by .* of extrap"):
        adapt(model, L)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("gptj", "no attention comes through the interface"),
        ("hunyuan_v1_dense", "otherwise than by turning pairs of channels"),
        ("doge", "has a mask of its own"),
    ],
)
def test_what_is_not_reached_is_read_for_its_logits(family, expected, tmp_path):
    theirs = families.made(family)
    theirs.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=f"model_type={family}: .*{expected}"):
        adapt(theirs)
    ours = Checkpoint(str(tmp_path)).model()
    assert isinstance(ours, Plain)
    close(ours(TOKENS[:, :30]), own_logits(theirs, TOKENS[:, :30]).detach())
    with pytest.raises(NotApplicable, match="logits alone"):
        Interpolation(FACTOR)(ours)
    assert Direct()(ours) is ours


def test_every_family_of_transformers_is_listed():
    from transformers import __version__

    if f"transformers {'.'.join(__version__.split('.')[:2])}," in families.README.read_text():
        assert sorted(EVERY) == families.families()
    assert len(REACHED) >= 30


@pytest.mark.whole
def test_the_table_of_families_is_what_a_probe_finds():
    found = {kind: families.outcome(kind) for kind in EVERY if kind not in REACHED}
    assert found == {kind: says for kind, says in EVERY.items() if kind not in REACHED}


LINEAR = {
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
INDEXED = LINEAR | {
    "layer_types": ["linear_attention"] * 3 + ["indexed_attention"],
    "shared_expert_intermediate_size": 16,
    "hc_lowrank": 8,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 16,
    "indexer_compress_ratio": 4,
}


@torch.no_grad()
@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen3_5", LINEAR),
        ("qwen3_5_moe", LINEAR),
        ("qwen4_exp", INDEXED),
        ("llama4", {}),
        ("gemma3", {}),
    ],
)
def test_a_model_that_reads_pictures_too_is_read_for_its_text(family, text, tmp_path):
    """A folder as it is published: the options of the decoder are a part of its config."""
    theirs = families.with_pictures(family, **text)
    theirs.save_pretrained(tmp_path)
    checkpoint = Checkpoint(str(tmp_path))
    expected = own_logits(theirs, TOKENS[:, :INSIDE])
    close(checkpoint.model()(TOKENS[:, :INSIDE]), expected, max(1.0, float(expected.std())))
    assert checkpoint.vocab == families.VOCAB and checkpoint.length() == L
    drawn = checkpoint.untrained(layers=2)
    assert family == "qwen4_exp" or len(layer_table(drawn)) == 2  # qwen4_exp has logits alone


def test_depth_can_be_drawn_anew(tmp_path):
    """Lists with an entry a layer follow the pattern of the config."""
    families.made("smollm3").save_pretrained(tmp_path)
    checkpoint = Checkpoint(str(tmp_path))
    assert len(checkpoint.untrained().blocks) == 4
    deeper = checkpoint.untrained(layers=8)
    assert [row["turns"] for row in layer_table(deeper)] == [True, True, True, False] * 2
    assert json.loads((tmp_path / "config.json").read_text())["num_hidden_layers"] == 4


@pytest.mark.parametrize("family", ["hrm_text", "bart"])
def test_a_depth_that_a_family_does_not_build_is_refused(family, tmp_path):
    """Two stacks of HRM have layers of their own; of BART this option counts the encoder's."""
    families.made(family).save_pretrained(tmp_path)
    checkpoint = Checkpoint(str(tmp_path))
    whole = len(checkpoint.untrained().blocks)
    assert len(layer_table(checkpoint.model(empty=True))) == whole
    with pytest.raises(UserError, match=f"with num_hidden_layers=2 it has {whole} layers"):
        checkpoint.untrained(layers=2)


def test_a_depth_without_attention_is_no_model_to_look_into(tmp_path):
    """The first layer of a hybrid; the task `diagnostics` leaves such a depth out."""
    families.made("lfm2_moe").save_pretrained(tmp_path)
    checkpoint = Checkpoint(str(tmp_path))
    model = checkpoint.model()
    inside = InspectedModel(model, model, lambda layers: checkpoint.untrained(layers=layers))
    assert len(inside.untrained(2).model.layers) == 1
    with pytest.raises(NotApplicable, match="no attention comes through"):
        inside.untrained(1)
