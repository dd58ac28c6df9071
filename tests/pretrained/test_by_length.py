"""Models whose positions depend on the length of the text: each length as in a model that has read
nothing else.
"""

from copy import deepcopy

import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.model.gpt import GPT
from extrap.pretrained.adapter import adapted, of_variable
from extrap.pretrained.plain import check
from tests.pretrained.test_adapter import close, own_logits
from tests.support import tiny_families as families

L = 16
LENGTHS = (64, 24, 16, 20, 40, 8, 17)
TOKENS = torch.randint(3, 61, (2, 64), generator=torch.Generator().manual_seed(5))
THETA = {"rope_theta": 100.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0} | THETA
PLAIN = {"rope_type": "default"} | THETA
TWO = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": L} | THETA
TWO |= {"long_factor": [1.0, 1.5, 2.0, 3.0], "short_factor": [1.0] * 4}
ROPES = {
    "llama": DYNAMIC,
    "glm4": DYNAMIC | {"partial_rotary_factor": 0.5},
    "gemma3_text": {"full_attention": DYNAMIC, "sliding_attention": PLAIN},
    "gpt_neox_japanese": DYNAMIC,
    "phi3": TWO,
    "phimoe": TWO | {"short_mscale": 1.3, "long_mscale": 1.1},
}
"""Families and their scaling: one for all layers, one for layers that see everything, one of
which extrap reads the logits alone, two sets of frequencies, two of numbers on them."""


def scaled(family):
    more = {"max_position_embeddings": L, "original_max_position_embeddings": L}
    if family != "phi3":
        more.pop("original_max_position_embeddings")
    if family == "phimoe":
        more["num_local_experts"] = 4
    return families.made(family, rope_parameters=ROPES[family], **more)


@torch.no_grad()
@pytest.mark.parametrize("family", ROPES)
def test_a_length_is_read_as_if_it_were_the_only_one(family):
    model = scaled(family)
    fresh = deepcopy(model)
    ours = adapted(model, L)
    assert isinstance(ours, GPT) is (family != "gpt_neox_japanese")
    for n in LENGTHS:
        expected = own_logits(deepcopy(fresh), TOKENS[:, :n])
        close(ours(TOKENS[:, :n]), expected, max(1.0, float(expected.std())))
    between = own_logits(deepcopy(fresh), TOKENS[:, :20])
    assert torch.equal(own_logits(model, TOKENS[:, :20]), between)  # the model of the caller


@torch.no_grad()
@pytest.mark.parametrize("family", ["llama", "gpt_neox_japanese"])
def test_a_model_that_read_long_texts_before_is_read_afresh(family):
    model = scaled(family)
    expected = own_logits(deepcopy(model), TOKENS[:, :20])
    own_logits(model, TOKENS)
    assert (own_logits(model, TOKENS[:, :20]) - expected).abs().max() > 1e-2
    check(model)
    close(of_variable(model, L)(TOKENS[:, :20]), expected)


@torch.no_grad()
def test_an_extension_starts_from_the_frequencies_of_each_length():
    """A dynamic scaling grows past L; a factor of 2 halves whatever it has grown to."""
    ours = adapted(scaled("llama"), L)
    half = Interpolation(2.0)(ours)
    grown = [own_logits(deepcopy(scaled("llama")), TOKENS[:, :n]) for n in LENGTHS]
    found = [half(TOKENS[:, :n]) for n in LENGTHS]
    again = [half(TOKENS[:, :n]) for n in reversed(LENGTHS)]
    for one, other, plain in zip(found, reversed(again), grown, strict=True):
        assert torch.equal(one, other)
        assert (one - plain).abs().max() > 1e-2
