"""What all tests share: one thread, and the components discovered from the configuration folder."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WANDB_MODE", "offline")

import pytest
import torch

import extrap

torch.set_num_threads(1)
sys.path.append(str(Path(extrap.__file__).parent / "_plugins"))  # Hydra looks for plug-ins once, in whichever test needs it first


@pytest.fixture(scope="session")
def corpus_cache(tmp_path_factory):
    """The token map of the embedded corpus, built once per test process."""
    cache = tmp_path_factory.mktemp("corpus") / "tokens"
    cache.mkdir()
    return cache


@pytest.fixture
def elsewhere(tmp_path, monkeypatch, corpus_cache):
    """An empty working folder that shares the token map with the other tests of this process."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".tokens").symlink_to(corpus_cache)
    return tmp_path
