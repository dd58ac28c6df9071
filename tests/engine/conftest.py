"""Text and checkpoints of a few words, for an engine on the loopback."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.support import tiny_checkpoints as tiny
from tests.support import word_tokenizer

L = 128


class Place:
    """The working folder of a test. WORDS: of a command line that reads its text."""

    WORDS = ("data/corpus=files", "data.corpus.path=text")

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "text").mkdir()
        for n in range(12):
            drawn = np.random.default_rng(n).choice(word_tokenizer.WORDS, 600)
            (folder / "text" / f"{n}.txt").write_text(" ".join(drawn))
        self.tokenizer = word_tokenizer.written(folder / "tokenizer") / "tokenizer.json"
        self.size = Tokenizer.from_file(str(self.tokenizer)).get_vocab_size()

    def model(self, kind: str, **options: Any) -> Any:
        """A model of transformers with these tokens."""
        own = {"vocab_size": self.size, "max_position_embeddings": L, "bos_token_id": 0}
        return tiny.made(kind, **own, num_hidden_layers=2, **options)

    def saved(self, net: Any) -> str:
        """The folder of a model, with its tokenizer."""
        folder = self.folder / net.config.model_type
        net.save_pretrained(folder)
        (folder / "tokenizer.json").write_bytes(self.tokenizer.read_bytes())
        return str(folder)


@pytest.fixture
def place(elsewhere) -> Place:
    return Place(elsewhere)
