"""Checkpoints from strangers: no code that lies beside their weights runs, not even if somebody
types `y`.

A folder that appears (the canary) shows that planted code ran.
"""

import json
from pathlib import Path

import pytest
import torch

from extrap.pretrained.checkpoint import Checkpoint
from extrap.runs import checkpoint
from extrap.utils.errors import UserError
from tests.faults import planted
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_gguf
from tests.support.program import python

pytestmark = pytest.mark.usefixtures("elsewhere")

MAP = {"AutoConfig": "mine.C", "AutoModelForCausalLM": "mine.M", "AutoTokenizer": ["mine.T"] * 2}
FETCHED = {"AutoConfig": "own/code--mine.C", "AutoModelForCausalLM": "own/code--mine.M"}
READ = """
import sys
from extrap.pretrained.checkpoint import Checkpoint
print(type(Checkpoint(sys.argv[1]).model(32)).__name__)
"""


def litter(folder: Path, canary: Path, names: dict = MAP) -> None:
    """Puts everything beside the weights that makes a loader run code or fetch another model.
    names: of the classes that the configurations ask for.
    """
    planted_map = {"auto_map": names, "tokenizer_class": "Mine"}
    for name in ("config.json", "tokenizer_config.json", "generation_config.json"):
        known = json.loads((folder / name).read_text()) if (folder / name).exists() else {}
        (folder / name).write_text(json.dumps({"model_type": "mine"} | known | planted_map))
    (folder / "custom_generate").mkdir()
    for name in ("mine.py", "custom_generate/generate.py", "modeling.py"):
        (folder / name).write_text(planted.module(canary))


def fetched(hub: Path, canary: Path) -> None:
    """Puts the code of `own/code` where the hub's library keeps what somebody fetched before."""
    place = hub / "hub" / "models--own--code"
    for name, text in (
        ("refs/main", "0" * 40),
        (f"snapshots/{'0' * 40}/mine.py", planted.module(canary)),
    ):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(text)


@pytest.mark.turns
@pytest.mark.parametrize("kind", ["folder", "gguf", "fetched"])
def test_no_code_beside_the_weights_runs(kind, tmp_path):
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    folder, canary = tmp_path / "theirs", tmp_path / "canary"
    folder.mkdir()
    place = folder
    if kind == "gguf":
        made = tiny.made("bloom", vocab_size=len(tiny_gguf.words()))
        place = tiny_gguf.bloom(folder / "model.gguf", made)
        (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "own/other"}')
    else:
        tiny.made("llama").save_pretrained(folder)
    litter(folder, canary, FETCHED if kind == "fetched" else MAP)
    fetched(tmp_path / "hub", canary)
    done = python("-c", READ, str(place), says="y\n" * 9, HF_HOME=str(tmp_path / "hub"))
    assert not canary.exists(), "planted code was run"
    assert (done.returncode, "[y/N]" in done.stdout) == (0, False), done.stderr
    assert not (tmp_path / "hub" / "modules").exists()


EMPTY = {
    "sparse": lambda w: w.to_sparse(),
    "rows of sparse numbers": lambda w: w.to_sparse_csr(),
    "meta": lambda w: w.to("meta"),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", EMPTY)
def test_weights_without_numbers_are_damaged(kind, tmp_path):
    path = tmp_path / "weights.pt"
    whole: dict = {"a": torch.eye(3), "inside": [(torch.eye(2),)]}
    whole["itself"] = [whole]
    checkpoint.save(whole, path)
    assert torch.equal(checkpoint.load(path)["a"], torch.eye(3))
    whole["inside"] = [(EMPTY[kind](torch.eye(2)),)]
    checkpoint.save(whole, path)
    with pytest.raises(UserError, match="holds tensors that are sparse or without numbers"):
        checkpoint.load(path)


def test_a_family_without_layers_is_not_read(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "musicgen"}')
    tiny.made("llama").save_pretrained(tmp_path / "tiny")
    (tmp_path / "tiny/model.safetensors").rename(tmp_path / "model.safetensors")
    with pytest.raises(UserError, match="transformers does not read it"):
        Checkpoint(str(tmp_path)).untrained()
