"""The vocabulary of bytes as a tokenizer.json, with which transformers and others read text.

Id b is byte b, 256 BOS, which a text begins with; then come keys and values, `<k0>` and `<v0>`, in
the ids that a model was trained with.
"""

import json
from pathlib import Path

from extrap.data.encoder import BYTES
from extrap.data.vocabulary import Vocabulary
from extrap.pretrained.seam import installed

BOS = "<bos>"
PRINTING = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
LETTERS = {chr(b): b for b in PRINTING}
LETTERS |= {chr(256 + n): b for n, b in enumerate(sorted({*range(256)} - {*PRINTING}))}
"""The letter of each byte in byte-level tokenizers: itself if it prints. Source: GPT-2."""


def write(vocabulary: Vocabulary, length: int, folder: Path) -> None:
    """Writes tokenizer.json and tokenizer_config.json of a vocabulary of bytes. length: L in
    tokens. Raises UserError without the package tokenizers.
    """
    with installed("export"):
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    assert vocabulary.encoder is BYTES
    made = Tokenizer(models.BPE(LETTERS, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(BOS, normalized=False)])
    records = [f"<k{i}>" for i in range(vocabulary.keys)]
    records += [f"<v{i}>" for i in range(vocabulary.values)]
    made.add_tokens([AddedToken(word, normalized=False) for word in records])
    made.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, vocabulary.bos)]
    )
    assert made.get_vocab_size() == vocabulary.size and made.token_to_id(BOS) == vocabulary.bos
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "model_max_length": length,
        "clean_up_tokenization_spaces": False,
    }
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
