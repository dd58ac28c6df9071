"""QK-Restore: queries and keys project as before tuning, all other weights as tuned."""

import pytest
import torch

from extrap.runs import train as stage
from extrap.runs.training.finetune import Full
from extrap.runs.training.qk_restore import QKRestored
from tests.runs.test_finetuned import tuned
from tests.support.discover import gpt
from tests.support.jobs import weights

OPTIONS = ("extension=yarn", "finetune.factor=2")


def test_a_tuned_run_keeps_the_projections_of_its_parent(elsewhere):
    runs = {method: tuned(*OPTIONS, method=method) for method in ("full", "qk-restore")}
    for j in runs.values():
        stage.train(j)
    assert runs["qk-restore"].label.startswith("rope-qk-restore-")
    full, restored = (weights(j) for j in runs.values())
    before = weights(runs["full"].training.parent)
    projections = [name for name in before if ".qkv." in name]
    for name in before:
        if name not in projections:
            assert torch.equal(restored[name], full[name])
    for name in projections:
        rows = 2 * len(before[name]) // 3
        assert torch.equal(restored[name][:rows], before[name][:rows])
        assert torch.equal(restored[name][rows:], full[name][rows:])
        assert not torch.equal(full[name][:rows], before[name][:rows])


@pytest.mark.parametrize("groups, rows", [(None, 64), (2, 48), (1, 40)])
def test_heads_that_share_keys_have_fewer_rows(groups, rows):
    """Of four heads of eight channels: queries, and the keys of each group."""
    plain = gpt("rope", dim=32, heads=4, kv_heads=groups)
    after = {name: tensor + 1 for name, tensor in plain.state_dict().items()}
    found = QKRestored().kept(after, plain)
    name = "blocks.0.qkv.weight"
    moved = (found[name] - plain.state_dict()[name]).amax(-1)
    assert moved.round().tolist() == [0.0] * rows + [1.0] * (len(moved) - rows)
    assert Full().kept(after, plain).keys() == found.keys()
