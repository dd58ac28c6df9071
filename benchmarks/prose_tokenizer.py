"""Trains the byte-pair tokens of data/corpus=prose again: `python -m benchmarks.prose_tokenizer`.

The file changes only with the text, which the versions of the packages fix.
"""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from extrap.data.corpora.prose import Prose
from extrap.utils.paths import in_package

TOKENS = 2048


def main() -> None:
    prose = Prose()
    texts = (text.decode() for name, text in prose.documents() if prose.split_for(name) == "train")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=TOKENS, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    path = in_package("package:extrap/data/corpora/prose.json")
    tokenizer.save(str(path), pretty=False)
    print(f"{path}: {tokenizer.get_vocab_size()} tokens, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
