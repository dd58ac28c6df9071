"""A small byte-level tokenizer in which some two hundred made-up words are one token each."""

from itertools import product
from pathlib import Path

from extrap.pretrained.vocabulary import ORDINALS

RELATIONS = [f"The {name} of is." for name in ("color", "owner", "place", "price")]
WORDS = ["".join(s) for s in product(("ba", "co", "du", "fe"), ("ka", "lo", "mi"), *["nrst"] * 2)]


def written(folder: Path, words=WORDS, more=ORDINALS) -> Path:
    """tokenizer.json in a folder, which is returned."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        min_frequency=2,
        initial_alphabet=alphabet,
        special_tokens=["<bos>"],
        show_progress=False,
    )
    text = " " + " ".join([*words, *more, *RELATIONS] * 3)
    made.train_from_iterator([text], trainer)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    return folder
