"""Text as the tokens of a tokenizer: bytes add up, maps and rows follow it, and the hash of the
rows says what was read.
"""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from extrap.data.corpora.files import Files
from extrap.data.tokenizer import OPTION, Pieces, Tokenized
from extrap.tasks.nll import NLL
from extrap.utils.errors import UserError
from tests.support.hand import measure
from tests.support.word_tokenizer import written

WORDS = ["der", "naïve", "Überzug", "一二", "of", "positions", "🙂", "\n"]


def text(documents: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 400)) for _ in range(documents)]


def bpe(folder: Path, words: list[str] = WORDS) -> str:
    return str(written(folder, words, ()) / "tokenizer.json")


@pytest.fixture
def tokenizer(tmp_path):
    return bpe(tmp_path)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text").mkdir()
    for i, document in enumerate(text(24)):
        (tmp_path / "text" / f"{i}.txt").write_text(document)
    return tmp_path / "text"


def test_bytes_add_up_and_text_comes_back(tokenizer):
    encode = Tokenized(tokenizer=tokenizer).encoder
    for document in text(5, seed=1):
        ids, behind = encode(document.encode())
        assert behind.sum() == len(document.encode())
        assert (behind >= 0).all() and len(ids) < len(document.encode())
        assert Tokenizer.from_file(tokenizer).decode(ids.tolist()) == document


def test_keys_and_values_lie_after_the_tokens_of_text(tokenizer):
    vocabulary = Tokenized(tokenizer=tokenizer, keys=5, values=3)
    known = Tokenizer.from_file(tokenizer).get_vocab_size()
    assert (vocabulary.text, vocabulary.bos, vocabulary.size) == (known, known, known + 9)
    ids, _ = vocabulary.encoder(" ".join(WORDS).encode())
    assert ids.max() < vocabulary.bos < vocabulary.key_ids.start


def test_a_folder_that_holds_one_is_the_same(tokenizer):
    assert (
        Tokenized(tokenizer=str(Path(tokenizer).parent)).encoder.name
        == Tokenized(tokenizer=tokenizer).encoder.name
    )


def test_a_map_is_of_its_tokenizer(tokenizer, folder, tmp_path):
    source = Files(path=str(folder), document_tokens=10**6)
    one = source.open(tmp_path / "cache", Tokenized(tokenizer=tokenizer).encoder)
    other = source.open(
        tmp_path / "cache", Tokenized(tokenizer=bpe(tmp_path / "other", WORDS[4:])).encoder
    )
    assert len({one.sha256, other.sha256, source.open(tmp_path / "cache").sha256}) == 3
    for split in ("train", "validation"):
        assert sum(map(len, one.documents(split))) == len(one.stream(split))
        assert sum(int(sizes.sum()) for sizes in one.sizes(split)) == len(
            source.open(tmp_path / "cache").stream(split)
        )


def test_nats_per_token_and_bits_per_byte(tokenizer, folder, tmp_path):
    """A model that knows nothing: ln(vocabulary) nats a token, over the bytes of the tokens."""
    vocabulary = Tokenized(tokenizer=tokenizer)
    corpus = Files(path=str(folder), document_tokens=10**6, validation=0.4).open(
        tmp_path / "cache", vocabulary.encoder
    )
    task = NLL(multiples=[1, 2], documents=len(corpus.documents("validation")))

    def uniform(tokens: torch.Tensor, last: int) -> torch.Tensor:
        return torch.zeros(len(tokens), last, vocabulary.size, dtype=torch.float64)

    result = measure(task, uniform, corpus, 16, vocabulary)
    sizes = np.stack([behind[:64] for behind in corpus.sizes("validation")]).astype(int)
    scored = {"nonoverlap": sizes[:, 32:64], "sliding": sizes[:, 32:64]}
    compared = Counter()
    for row in result.rows:
        if row["metric"] == "nll":
            assert row["value"] == pytest.approx(math.log(vocabulary.size))
            compared["nll"] += 1
        elif row["metric"] == "bits_per_byte" and row["protocol"] in scored:
            kept = scored[row["protocol"]]
            compared[row["protocol"]] += 1
            assert row["value"] == pytest.approx(
                math.log2(vocabulary.size) * kept.size / kept.sum()
            )
    assert compared == {"nll": 6, "nonoverlap": 2, "sliding": 2}


def test_without_network_the_ways_out_are_named(monkeypatch):
    import huggingface_hub

    def refuse(*args: object, **options: object) -> None:
        raise OSError("Name or service not known\nmore")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    with pytest.raises(UserError) as error:
        _ = Tokenized(tokenizer="somebody/model").encoder
    assert error.value.option == OPTION and "\n" not in str(error.value)


def test_a_model_that_was_read_before_needs_no_network(tokenizer, monkeypatch):
    """Not even a question that a hub out of reach would hold up."""
    import huggingface_hub

    asked: list[object] = []
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *args: tokenizer)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *args, **_: asked.append(args))
    kept = Tokenized(tokenizer="somebody/kept").encoder
    assert kept.name == Tokenized(tokenizer=tokenizer).encoder.name and not asked


def test_a_word_that_a_tokenizer_has_no_id_for_is_one_line(tmp_path):
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.save(str(path := tmp_path / "tokenizer.json"))
    with pytest.raises(UserError) as error:
        Tokenized(tokenizer=str(path)).encoder(b"a c")
    assert error.value.option == OPTION


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x+x+)+y"])
def test_a_pattern_that_gives_up_is_one_line(pattern, tmp_path, capfd):
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "isolated")
    made.save(str(path := tmp_path / "tokenizer.json"))
    encode = Tokenized(keys=4, values=4, tokenizer=str(path)).encoder
    assert len(encode(b"abba")[0])
    with pytest.raises(UserError):
        encode(b"a" * 60 + b"x" * 60 + b"!")
    assert capfd.readouterr() == ("", "")


def test_dropout_is_off(tokenizer, tmp_path):
    """One text has one encoding, the same as without dropout; maps of old encodings are no longer
    used.
    """
    plain = json.loads(Path(tokenizer).read_text())
    model = plain["model"] | {"dropout": 0.5}
    (tmp_path / "drops.json").write_text(json.dumps(plain | {"model": model}))
    encode = Tokenized(tokenizer=str(tmp_path / "drops.json")).encoder
    document = text(1)[0].encode()
    expected = Tokenized(tokenizer=tokenizer).encoder(document)[0].tolist()
    assert [encode(document)[0].tolist() for _ in range(3)] == [expected] * 3
    source = (tmp_path / "drops.json").read_text()
    assert encode.name != Pieces(source, Tokenizer.from_file(tokenizer), "option").name
