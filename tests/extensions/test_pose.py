"""PoSE: what coordinates a window is laid out on while tuning, that all distances of the longer
text come up, and that windows stay as long as in training.
"""

from dataclasses import replace

import pytest
import torch

from extrap.extensions.all_layers import AllLayers
from extrap.extensions.by_parts import YaRN
from extrap.extensions.chain import Chain
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.pose import EndPrompt, PoSE, RandomisedYaRN
from extrap.model.scheme import Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.rope import RoPE
from tests.support.discover import made, node
from tests.support.jobs import job

SHAPE = Shape(dim=16, heads=2, length=8)


def test_two_chunks_with_a_gap_anew_each_time():
    s, t = PoSE(YaRN(4.0)).extend(RoPE(SHAPE)), torch.arange(8, dtype=torch.float64)
    torch.manual_seed(0)
    seen, firsts = set(), set()
    for _ in range(3000):
        p = s.positions(t)
        steps = p.diff()
        assert p[0] == 0 and p[-1] < 32 and (steps >= 1).all() and int((steps > 1).sum()) <= 1
        seen |= {int(d) for d in (p[:, None] - p)[torch.ones(8, 8).tril().bool()]}
        if (steps > 1).any():
            firsts.add(int(steps.argmax()) + 1)
    assert seen == set(range(32))
    assert firsts == {1, 2, 3, 4}


def test_reading_is_as_the_method_reads():
    s, t = PoSE(Interpolation(4.0)).extend(RoPE(SHAPE)), torch.arange(8, dtype=torch.float64)
    assert torch.equal(s.eval().positions(t), t / 4)
    torch.manual_seed(1)
    trained = [s.train().positions(t) * 4 for _ in range(20)]
    assert len({tuple(p.tolist()) for p in trained}) > 10
    assert all(float(p.max()) < 32 and (p == p.round()).all() for p in trained)


def test_windows_of_tuning_are_as_long_as_those_of_training():
    """16 times as far at 1 x: the method keeps its factor."""
    tuned = job("scheme=rope", "finetune=full", "extension=pose").training
    assert (tuned.factor, tuned.length) == (1.0, tuned.source.length)
    assert tuned.extension_options["method"]["factor"] == 16
    assert tuned.label == "rope-full-pose-x1"
    tuned.check()
    longer = job("scheme=rope", "finetune=full", "extension=pose", "finetune.factor=2").training
    assert longer.length == 2 * longer.source.length
    assert longer.extension_options["method"]["factor"] == 16


def test_end_prompt_keeps_the_first_part_and_puts_the_last_tokens_at_the_end():
    s, t = EndPrompt(Interpolation(4.0), 3).extend(RoPE(SHAPE)), torch.arange(8).double()
    assert (4 * s.train().positions(t)).tolist() == [0, 1, 2, 3, 4, 29, 30, 31]
    assert (4 * s.positions(t[:3])).tolist() == [0, 1, 2]
    assert torch.equal(4 * s.eval().positions(t), t)


@pytest.mark.parametrize("length, terminal", [(8, 4), (39, 19), (64, 20), (256, 20)])
def test_end_prompt_ends_in_twenty_tokens_as_in_the_authors_scripts(length, terminal):
    options = node("extension", "end-prompt")
    options["method"]["factor"] = 4.0
    s = made(options, "extension").extend(RoPE(replace(SHAPE, length=length)))
    laid = (4 * s.train().positions(torch.arange(length).double())).tolist()
    most = 4 * length
    assert laid == [*range(length - terminal), *range(most - terminal, most)]


def test_randomised_yarn_draws_a_subset_of_the_longer_text_and_reads_as_yarn():
    s, t = RandomisedYaRN(YaRN(4.0)).extend(RoPE(SHAPE)), torch.arange(8).double()
    torch.manual_seed(0)
    drawn = torch.stack([s.train().positions(t) for _ in range(2000)])
    assert (drawn.diff() >= 1).all() and (drawn == drawn.round()).all()
    assert float(drawn.min()) == 0 and float(drawn.max()) == 31
    # order statistic k of a subset of n of 0 .. N - 1 has mean k (N + 1) / (n + 1) - 1
    means = torch.tensor([k * 33 / 9 - 1 for k in range(1, 9)]).double()
    assert (drawn.mean(0) - means).abs().max() < 0.3
    assert torch.equal(s.eval().positions(t), t)
    yarn = frequencies_used(YaRN(4.0).extend(RoPE(SHAPE)), 8)
    assert torch.equal(frequencies_used(s, 8), yarn)


def test_a_chain_is_tuned_on_the_windows_of_its_parts():
    chain = Chain(PoSE(Interpolation(8.0)), ClippedLogN())
    assert chain.tuned_at == 1 and Chain(Interpolation(8.0), ClippedLogN()).tuned_at is None


def test_all_layers_of_pose_are_those_of_its_method():
    for method in (PoSE(YaRN(4.0)), RandomisedYaRN(YaRN(4.0))):
        with pytest.raises(ValueError, match="put AllLayers inside it"):
            AllLayers(method)
    PoSE(AllLayers(YaRN(4.0)))
