"""What several tests of runs begin with."""

from pathlib import Path

import pytest
import torch

from extrap.runs.dashboard.study import read
from extrap.runs.training import devices
from tests.support.plausible import written


@pytest.fixture
def alone(monkeypatch):
    """A process group of this process, gone afterwards, and what Lightning says of it."""
    for name in (*devices.RANKS, "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of a run that learned retrieval and one that did not."""
    monkeypatch.chdir(tmp_path)
    written("rope", "learned")
    Path("results/demo/README.md").write_text(
        "# Demo\n\n**Question:** how far do they read,\nand who reads furthest?\n"
    )
    return read("demo")
