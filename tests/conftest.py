"""What all tests share: one thread, and the components discovered from the configuration folder."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WANDB_MODE", "offline")

import torch

torch.set_num_threads(1)

import pytest


@pytest.fixture(scope="session")
def corpus_cache(tmp_path_factory):
    """The token map of the embedded corpus, built once per test process."""
    cache = tmp_path_factory.mktemp("corpus") / "tokens"
    cache.mkdir()
    return cache
