"""Calls in one Python session: each reads its files anew and leaves no settings behind."""

import json
import logging
import os
import random
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import JobRuntime
from omegaconf import OmegaConf
from omegaconf.basecontainer import BaseContainer

import extrap
from extrap.utils.errors import UserError
from tests.support import word_tokenizer
from tests.support.checkpoint_jobs import placed
from tests.support.jobs import TINY

TEXT = ("data/corpus=files", "data.corpus.document_tokens=1000", "task.nll.documents=4")

pytestmark = pytest.mark.usefixtures("elsewhere")


def logits(ids: torch.Tensor) -> torch.Tensor:
    """A model that prefers high ids, whatever it reads."""
    return torch.linspace(0, 3, 577).expand(*ids.shape, 577)


def losses(tokenizer: Path, text: str = "text") -> pd.DataFrame:
    words = (f"data.corpus.path={text}", "model.train_length=64", "model.bos=0")
    options = {"tokenizer": str(tokenizer), "tasks": "nll", "multiples": [1]}
    rows = extrap.evaluate(logits, *TEXT, *words, **options)
    return rows.loc[rows["task"] == "nll", ["run", "metric", "value"]]


def read_anew(folder: Path, text: str = "text") -> None:
    """Asserts that the same files say the same under names that this session has not read."""
    known = losses(folder, text)
    for name in (folder, Path(text)):
        shutil.copytree(name, f"{name}-copy")
    pd.testing.assert_frame_equal(known, losses(Path(f"{folder}-copy"), f"{text}-copy"))


def test_a_tokenizer_that_changed_is_read_anew(elsewhere: Path) -> None:
    placed(elsewhere)
    folder = word_tokenizer.written(Path("words"))
    before = losses(folder)
    path = folder / "tokenizer.json"
    changed = json.loads(path.read_text()) | {"normalizer": {"type": "Lowercase"}}
    path.write_text(json.dumps(changed))
    assert not losses(folder).equals(before)
    read_anew(folder)


def test_a_text_that_changed_is_read_anew(elsewhere: Path) -> None:
    placed(elsewhere)
    folder = word_tokenizer.written(Path("words"))
    before = losses(folder)
    for path in Path("text").iterdir():
        path.write_text(path.read_text().swapcase())
    assert not losses(folder).equals(before)
    read_anew(folder)


def drawn() -> list[float]:
    return [random.random(), float(np.random.rand()), float(torch.rand(1))]


def test_a_training_takes_no_draws_and_leaves_no_settings() -> None:
    logger = logging.getLogger("lightning.pytorch")
    logger.setLevel(logging.INFO)

    def settings() -> list:
        return [list(warnings.filters), dict(os.environ), list(sys.path), logger.level]

    def seeded() -> list[float]:
        random.seed(3), np.random.seed(3), torch.manual_seed(3)
        return drawn()

    expected = [seeded(), drawn()]
    seeded()
    before = settings()
    extrap.train(*TINY, "scheme=rope")
    assert settings() == before
    assert drawn() == expected[1] != expected[0]


def test_a_program_of_hydra_goes_on(tmp_path: Path) -> None:
    """Its job, its version, its references, its files with names that extrap has as well."""
    (tmp_path / "conf").mkdir()
    mine = "defaults: [schema, task: own, _self_]\nat: ${where:}\n"
    (tmp_path / "conf" / "mine.yaml").write_text(mine)
    (tmp_path / "conf" / "task").mkdir()
    own = "# @package _global_\n_target_: a.B\nplugins: [c]\n"
    (tmp_path / "conf" / "task" / "own.yaml").write_text(own)
    store = dict(ConfigStore.instance().repo)
    ConfigStore.instance().store(name="schema", node={"theirs": 1})
    OmegaConf.register_new_resolver("where", lambda: "here")
    kept = dict(Singleton._instances)
    try:
        initialize_config_dir(str(tmp_path / "conf"), job_name="theirs", version_base="1.2")
        HydraConfig.instance().cfg = before = OmegaConf.create({"hydra": {"job": {"name": "job"}}})
        instances, resolvers = dict(Singleton._instances), dict(BaseContainer._resolvers)
        with pytest.raises(UserError, match="task="):
            extrap.evaluate(lambda ids: ids, tasks="none")
        assert Singleton._instances == instances and BaseContainer._resolvers == resolvers
        assert JobRuntime.instance().get("name") == "theirs"
        assert HydraConfig.instance().cfg is before
        assert compose("mine") == {"at": "here", "theirs": 1, "_target_": "a.B", "plugins": ["c"]}
    finally:
        GlobalHydra.instance().clear()
        Singleton._instances.clear()
        Singleton._instances.update(kept)
        ConfigStore.instance().repo = store
        OmegaConf.clear_resolver("where")
