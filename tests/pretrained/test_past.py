"""Keys and values of a decoder of transformers, kept for the texts that begin alike."""

import pytest
import torch

from extrap.model.past import Past
from extrap.pretrained.adapter import adapt
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_families

LFM2 = {"layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3}


@torch.no_grad()
@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_a_past_serves_texts_that_begin_alike(kind):
    model, text = adapt(tiny.made(kind), 32), torch.randint(60, (2, 40))
    other, past = text.clone(), Past()
    other[:, 25:] = (other[:, 25:] + 1) % 60
    whole = torch.stack([model(each, last=9) for each in (other, text)])
    seen = []
    model.embedding.register_forward_hook(lambda m, given, out: seen.append(given[0].shape[1]))
    assert model.continues(2, 25, 40)
    seen.clear()
    found = model.endings(torch.stack([other, text]), 9)
    assert seen == [40, 15]
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-5)
    model.further(text[:, :25], 1, past)
    torch.testing.assert_close(model.further(text, 9, past), whole[1], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_positions_that_a_model_counts_from_its_cache_go_on():
    """Llama 4 makes queries of its layers without rotation louder past `floor_scale` tokens."""
    net = tiny_families.made("llama4_text", floor_scale=40)
    model, texts = adapt(net, 32), torch.randint(60, (2, 2, 60))
    texts[1, :, :50] = texts[0, :, :50]
    assert model.continues(2, 50, 60)
    own = torch.stack([net(input_ids=text, use_cache=False).logits[:, -5:] for text in texts])
    torch.testing.assert_close(model.endings(texts, 5), own, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_recurrent_layers_read_every_text_whole(monkeypatch):
    monkeypatch.setitem(tiny.KINDS, "lfm2", tiny.COMMON | LFM2)
    model, texts = adapt(tiny.made("lfm2"), 32), torch.randint(60, (2, 1, 24))
    texts[1, :, :20] = texts[0, :, :20]
    assert not model.continues(1, 20, 24)
    whole = torch.stack([model(text, last=2) for text in texts])
    torch.testing.assert_close(model.endings(texts, 2), whole)
