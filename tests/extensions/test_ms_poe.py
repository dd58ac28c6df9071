"""Ms-PoE: ranks and ratios as a loop over heads, each head as RoPE at its own coordinates, and
where all heads alike are interpolation.
"""

import pytest
import torch

from extrap.extensions.ms_poe import MsPoE, PerHead
from extrap.model.scheme import Scheme, Shape, attend_rows
from extrap.model.stack import Stack
from extrap.runs.validate import check
from extrap.schemes.rope import RoPE
from extrap.schemes.window import Window
from extrap.utils.errors import NotApplicable
from tests.support.jobs import job
from tests.support.scheme_case import at, close, qkv

SHAPE = Shape(dim=24, heads=4, layers=2, length=32)


def test_ratios_follow_the_ranks_of_each_text():
    """Keys with more than `times` the mean weight of the last query, counted head by head."""
    m, T = MsPoE(times=1.5), 20
    q, k, _ = qkv(SHAPE, T)
    k[1] *= torch.arange(1, 5)[:, None, None]
    ours = m.ratios(q, k, at(Scheme(SHAPE), T))
    orders = set()
    for n in range(2):
        aware = []
        for h in range(4):
            weights = [float(q[n, h, -1] @ k[n, h, j] / 6**0.5) for j in range(T)]
            a = torch.tensor(weights).softmax(0)
            aware.append(sum(float(x) > 1.5 / T for x in a))
        order = sorted(range(4), key=lambda h: -aware[h])
        orders.add(tuple(order))
        for rank, h in enumerate(order):
            assert float(ours[n, h]) == pytest.approx(1.2 + 0.6 * rank / 4)
    assert len(orders) == 2  # each text has its own


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_head_is_rope_at_coordinates_of_its_own(layout):
    rope, T = RoPE(SHAPE, layout=layout), 9
    q, k, v = qkv(SHAPE, T)
    r = torch.tensor([[1.0, 1.5, 2.0, 4.0], [3.0, 1.0, 1.25, 1.0]], dtype=torch.float64)
    s = PerHead(lambda q, k, at: r, rope)
    ours = s.attend(q, k, v, at(s, T))
    for n in range(2):
        for h in range(4):
            place = at(rope, torch.arange(T, dtype=torch.float64) / r[n, h])
            turned = rope.rotate(q, k, place)
            close(ours[n, h], attend_rows(rope, *turned, v, place)[n, h])


def test_it_reaches_into_stacks_and_leaves_the_rest():
    s = MsPoE().extend(Stack(SHAPE, [RoPE(SHAPE), Window(SHAPE, 8)]))
    assert [type(p) for p in s.parts] == [PerHead, Window]


def test_tasks_that_score_tokens_inside_a_text_are_refused():
    """The ranks of the heads know the later tokens."""
    check(job("extension=ms-poe", "task=[kv]", tiny=("logger=none",)))
    with pytest.raises(NotApplicable):
        check(job("extension=ms-poe"))
    with pytest.raises(NotApplicable):
        check(job("extension=ms-poe", "task=[kv]", "finetune=full", tiny=("logger=none",)))
