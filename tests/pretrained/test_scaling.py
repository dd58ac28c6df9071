"""A checkpoint whose config scales rotations: under an extension it is chained or replaced."""

import pytest
import torch
from transformers import AutoConfig

from extrap.extensions.by_parts import YaRN
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.scaling import scaling_of, unscaled, window_of
from extrap.runs import validate
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support.checkpoint_jobs import asked, placed, saved

TOKENS = torch.randint(61, (2, 75), generator=torch.Generator().manual_seed(5))
ORIGINAL = 16
TURNS = {"beta_fast": 2.0, "beta_slow": 0.5}


@torch.no_grad()
@pytest.mark.parametrize("kind", ["yarn", "longrope", "llama3"])
def test_replaced_a_checkpoint_is_extended_from_its_original_window(kind, tmp_path):
    """As transformers serves the same weights under another rope_type from the start."""
    tiny.made("llama", **tiny.rope(kind)).save_pretrained(tmp_path)
    plain = Checkpoint(str(tmp_path), scaling="replace")
    assert plain.length() == ORIGINAL and plain.length(24) == 24
    model, theirs = plain.model(), tiny.made("llama", **tiny.rope("default"))
    torch.testing.assert_close(model(TOKENS), theirs(TOKENS).logits, atol=1e-4, rtol=1e-4)
    served = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 500.0} | TURNS
    served["original_max_position_embeddings"] = ORIGINAL
    theirs = tiny.made("llama", rope_parameters=served)
    found = YaRN(4.0, **TURNS)(model)(TOKENS)
    torch.testing.assert_close(found, theirs(TOKENS).logits, atol=1e-3, rtol=1e-3)


def test_each_kind_of_layer_is_unscaled():
    rope = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 900.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
    }
    config = tiny.made("gemma3", rope_parameters=rope).config
    assert scaling_of(config) == "linear by 8" and window_of(config) is None
    found = unscaled(config)
    assert scaling_of(found) is None and scaling_of(config) == "linear by 8"
    assert found.rope_parameters["full_attention"] == {"rope_theta": 900.0, "rope_type": "default"}


def test_without_a_scaling_there_is_nothing_to_replace(tmp_path):
    tiny.made("llama").save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"model.scaling=replace: .* scales no rotation"):
        Checkpoint(str(tmp_path), scaling="replace").model()


def test_a_window_that_the_config_does_not_say_is_asked_for(tmp_path):
    tiny.made("llama", **tiny.rope("linear")).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"give model.train_length"):
        Checkpoint(str(tmp_path), scaling="replace").model()


def test_a_line_says_whether_an_extension_replaces_it(elsewhere):
    placed(elsewhere)
    saved(elsewhere / "folder", "llama", **tiny.rope("yarn"))
    chained, replaced = (
        asked("model.checkpoint=folder", "extension=ntk", *words)
        for words in ([], ["model.scaling=replace"])
    )
    with pytest.warns(UserWarning, match=r"\(yarn by 4\); extension=ntk acts on the scaled"):
        validate.check(chained)
    with pytest.warns(UserWarning, match="extension=ntk replaces this from L = 16 tokens on"):
        validate.check(replaced)
    assert replaced.source.label == f"{chained.source.label}-unscaled"
    assert replaced.run.name != chained.run.name


def test_a_temperature_beside_the_scaling_stays():
    """Ministral 3 reads two more numbers of its rope_parameters in every forward."""
    config = AutoConfig.for_model("ministral3")
    plain = unscaled(config).rope_parameters
    assert plain["rope_type"] == "default" and "factor" not in plain
    for name in ("llama_4_scaling_beta", "original_max_position_embeddings"):
        assert plain[name] == config.rope_parameters[name]
