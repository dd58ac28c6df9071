"""A tokenizer of words for models in a variable."""

from pathlib import Path

import pytest

from tests.support import word_tokenizer
from tests.support.checkpoint_jobs import placed


@pytest.fixture
def tokenizer(elsewhere: Path):
    """A tokenizer of words as transformers has it, and text beside it."""
    from transformers import PreTrainedTokenizerFast

    placed(elsewhere)
    path = word_tokenizer.written(elsewhere / "words") / "tokenizer.json"
    return PreTrainedTokenizerFast(tokenizer_file=str(path), bos_token="<bos>")
