"""Text as pieces with tokens: cut and counted in tokens, encoded by several processes, kept in
shards for the command that comes after a kill.
"""

import json
import os
import random
import shutil
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

from extrap.data.corpora import pieces as cutting
from extrap.data.corpora import shards
from extrap.data.corpora.base import Source
from extrap.data.corpora.files import Files
from extrap.data.corpora.pieces import blocks, pieces
from extrap.data.encoder import BYTES
from extrap.data.tokenizer import Tokenized
from extrap.utils.errors import UserError

PARTS = ["the ", "ing", " ", "  ", "\n", "naïve", "一二", "🙂", "12", "\r\n", ".", "\u0301"]


@pytest.fixture
def encoder():
    return Tokenized(tokenizer="package:extrap/data/corpora/prose.json").encoder


@pytest.fixture
def folder(tmp_path):
    """Sixty files and a long one."""
    rng = random.Random(0)
    (tmp_path / "text").mkdir()
    for n, size in enumerate([4000, *[120] * 60]):
        content = "".join(rng.choices(PARTS, k=size))
        (tmp_path / "text" / f"{n:02}.txt").write_text(f"{n} {content}", newline="")
    return tmp_path / "text"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(cutting, "BLOCK", 2000)
    monkeypatch.setattr(shards, "BATCH", 500)
    monkeypatch.setattr(shards, "SHARD", 3000)


LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
BEGIN = {"type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A", "type_id": 0}}]}
BEGIN |= {"single": [{"SpecialToken": {"id": "!", "type_id": 0}}, *BEGIN["pair"]]}
BEGIN |= {"special_tokens": {"!": {"id": "!", "ids": [0], "tokens": ["!"]}}}
LLAMA_3 = {"type": "Sequence", "processors": [LEVEL, BEGIN]}
TRIMS = {"type": "Sequence", "processors": [LEVEL | {"trim_offsets": True}, BEGIN]}


@pytest.mark.parametrize(
    "behind, batched", [(None, 1), (LEVEL, 1), (BEGIN, 1), (LLAMA_3, 1), (TRIMS, 0)]
)
def test_a_batch_is_its_texts_one_by_one(tmp_path, behind, batched):
    made = json.loads(Path(cutting.__file__).with_name("prose.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps(made | {"post_processor": behind}))
    encoder = Tokenized(tokenizer=str(tmp_path)).encoder
    rng = random.Random(1)
    texts = ["".join(rng.choices(PARTS, k=rng.randrange(40))).encode() for _ in range(200)]
    assert (encoder._widths is not None) == batched
    for text, (ids, behind) in zip(texts, encoder.batch(texts), strict=True):
        plain_ids, plain_behind = encoder(text)
        assert np.array_equal(ids, plain_ids) and np.array_equal(behind, plain_behind), text


def test_tokens_are_cut_and_counted_not_bytes(encoder, folder):
    source = Files(path=str(folder), document_tokens=50)
    whole = list(pieces(source.documents(), encoder))
    cut = list(pieces(source.documents(), encoder, longest=50))
    assert max(len(piece.ids) for piece in cut) == 50
    assert max(len(piece.text) for piece in cut) > 50
    for n in ("text", "ids", "behind"):
        ends = [
            np.concatenate([np.array([*getattr(p, n)]) for p in found]) for found in (whole, cut)
        ]
        assert np.array_equal(*ends)
    some = list(pieces(source.documents(), encoder, longest=50, most=120))
    assert [len(piece.ids) for piece in some] == [50, 50, 20]
    assert all(len(piece.text) == piece.behind.sum() for piece in some)


def test_several_processes_read_what_one_reads(encoder, folder, tmp_path, small, monkeypatch):
    source = Files(path=str(folder), document_tokens=100)
    several = source.open(tmp_path / "several", encoder)
    monkeypatch.setattr(shards, "SHARD", 2**30)
    alone = source.open(tmp_path / "alone", encoder)
    assert several.sha256 == alone.sha256
    for split in ("train", "validation"):
        assert np.array_equal(several.stream(split), alone.stream(split))
        for a, b in zip(several.sizes(split), alone.sizes(split), strict=True):
            assert np.array_equal(a, b)


def test_a_killed_command_goes_on(encoder, folder, tmp_path, small, monkeypatch):
    """The second attempt writes no shard of the first anew, and the map is the same."""
    monkeypatch.setattr("extrap.data.corpora.reader.SETTLED", -1e9)
    source = Files(path=str(folder), document_tokens=100)
    whole = source.open(tmp_path / "other", encoder)
    written = []
    keep = shards._keep
    monkeypatch.setattr(
        shards, "_keep", lambda path, tokens: (written.append(path), keep(path, tokens))
    )
    split_for = Source.split_for

    def killed(self, name):
        if len(written) == 3:
            raise KeyboardInterrupt
        return split_for(self, name)

    monkeypatch.setattr(Source, "split_for", killed)
    with pytest.raises(KeyboardInterrupt):
        source.open(tmp_path / "cache", encoder)
    first, written[:] = set(written), []
    (path, *_) = first
    path.write_bytes(path.read_bytes())  # as somebody else may have written it
    monkeypatch.setattr(Source, "split_for", split_for)
    assert source.open(tmp_path / "cache", encoder).sha256 == whole.sha256
    assert set(written) & first == {path} and set(written) - first
    assert not list((tmp_path / "cache").glob(".writing-*"))


@pytest.mark.parametrize("call", ["savez", "replace"])
def test_another_process_may_be_done_first(call, encoder, folder, tmp_path, small, monkeypatch):
    """It removes the folder of shards while this one writes into it."""
    monkeypatch.setattr("extrap.data.corpora.reader.SETTLED", -1e9)
    source = Files(path=str(folder), document_tokens=100)
    cache = tmp_path / "cache"
    module = np if call == "savez" else os
    write = getattr(module, call)

    def late(*given, **more):
        for left in cache.glob(f".writing-{'?' * 64}"):
            shutil.rmtree(left)
        return write(*given, **more)

    monkeypatch.setattr(module, call, late)
    found = source.open(cache, encoder)
    assert found.sha256 == source.open(tmp_path / "other", encoder).sha256


def test_blocks_end_with_a_line_or_a_character(small):
    for text in ("一" * 3000, "a line\n" * 900, "word " * 900):
        found = list(blocks("a", text.encode()))
        assert "".join(block.decode() for _, block in found) == text
        assert [name for name, _ in found] == [f"a#{n}" for n in range(len(found))]
        assert all(len(block) <= 2000 for _, block in found) and len(found) > 2
        if "\n" in text:
            assert all(block.endswith(b"\n") for _, block in found)


@pytest.mark.parametrize("quiet, told", [(0.0, True), (3600.0, False)])
def test_bytes_that_take_long_are_read_with_progress(folder, monkeypatch, capsys, quiet, told):
    monkeypatch.setattr(cutting, "QUIET", quiet)
    assert list(pieces(Files(path=str(folder)).documents(), BYTES, longest=100))
    assert ("MiB of text read: " in capsys.readouterr().err) == told


def test_an_error_in_a_process_is_its_line(encoder, folder, small, monkeypatch):
    def fails(self, texts):
        raise UserError("data.vocabulary.tokenizer", "x", "it fails", "another one")

    monkeypatch.setattr(type(encoder), "batch", fails)
    with pytest.raises(UserError, match="tokenizer=x: it fails; another one"):
        list(pieces(Files(path=str(folder)).documents(), encoder))


@pytest.mark.parametrize("call", ["submit", "batch"])
def test_a_process_that_is_ended_is_a_line(call, encoder, folder, small, monkeypatch):
    """While it reads, or before the next text is handed to it."""

    def ended(self, *given):
        raise BrokenProcessPool

    if call == "submit":
        monkeypatch.setattr(shards.ProcessPoolExecutor, "submit", ended)
    else:
        monkeypatch.setattr(type(encoder), "batch", lambda self, texts: os._exit(1))
    with pytest.raises(UserError, match=r"was ended, .*; the same command goes on"):
        list(pieces(Files(path=str(folder)).documents(), encoder))


def test_paragraphs_are_joined(tmp_path):
    import datasets

    rows = [{"text": text, "n": 1} for text in ("one", "two", "three")]
    saved = datasets.DatasetDict(train=datasets.Dataset.from_list(rows))
    saved.save_to_disk(str(tmp_path / "saved"))
    (tmp_path / "a.txt").write_text("four")
    for path, join, found in (
        ("saved", None, [b"one", b"two", b"three"]),
        ("saved", "\n", [b"one\ntwo\nthree\n"]),
        ("*.txt", "-", [b"four-"]),
    ):
        source = Files(path=str(tmp_path / path), join=join)
        texts = [piece.text for piece in pieces(source.documents(), BYTES)]
        assert texts == found
