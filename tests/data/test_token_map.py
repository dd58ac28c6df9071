import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from extrap.data.corpora import token_map as tokens

DOCUMENTS = [
    ("train", b"one two"),
    ("validation", b"\x00\xff"),
    ("train", b"three"),
    ("train", b"x"),
]


def folders(cache):
    return sorted(path.name for path in cache.iterdir())


def test_what_is_written_is_read(tmp_path):
    maps = tokens.read(tmp_path, tokens.write(tmp_path, DOCUMENTS))
    stream, offsets = maps["train"].tokens, maps["train"].offsets
    assert stream.dtype == np.uint16
    assert stream.tobytes() == np.array([*b"one twothreex"], np.uint16).tobytes()
    assert offsets.tolist() == [0, 7, 12, 13]
    assert maps["validation"].tokens.tolist() == [0, 255]
    with pytest.raises(ValueError, match="read-only"):
        stream[0] = 1


def test_a_split_without_documents_is_empty(tmp_path):
    found = tokens.read(tmp_path, tokens.write(tmp_path, [("train", b"a")]))["validation"]
    assert (len(found.tokens), found.offsets.tolist()) == (0, [0])


def test_the_hash_is_of_all_that_makes_the_map(tmp_path):
    changed = [
        DOCUMENTS,
        DOCUMENTS[::-1],
        DOCUMENTS[:-1],
        [("validation", text) for _, text in DOCUMENTS],
        [("train", b"one "), ("validation", b"\x00\xff"), ("train", b"twothree"), ("train", b"x")],
        [("train", b"one tw"), ("validation", b"\x00\xff"), ("train", b"othree"), ("train", b"x")],
    ]
    hashes = [tokens.write(tmp_path, documents) for documents in changed]
    assert len({*hashes}) == len(changed)
    assert hashes[0] == tokens.write(tmp_path, DOCUMENTS)
    assert folders(tmp_path) == sorted(hashes)


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    def broken():
        yield from DOCUMENTS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokens.write(tmp_path, broken())
    assert folders(tmp_path) == []


def test_a_writer_that_was_killed_is_not_read(tmp_path):
    """A process killed in the middle leaves its temporary folder; nobody takes it for a map."""
    script = (
        "import os, pathlib, sys; from extrap.data.corpora import token_map as tokens\n"
        "tokens.write(pathlib.Path(sys.argv[1]), (d if d else os._exit(1) for d in [('train', "
        "b'x' * 100_000), None]))"
    )
    assert (
        subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False).returncode == 1
    )
    (left,) = folders(tmp_path)
    assert tokens.read(tmp_path, left) is None
    sha256 = tokens.write(tmp_path, DOCUMENTS)
    assert tokens.read(tmp_path, sha256)


def test_a_second_writer_of_the_same_text_may_be_first(tmp_path):
    def overtaken():
        yield from DOCUMENTS
        tokens.write(tmp_path, DOCUMENTS)

    sha256 = tokens.write(tmp_path, overtaken())
    assert folders(tmp_path) == [sha256]
    assert tokens.read(tmp_path, sha256)


def test_a_writer_that_finishes_while_leftovers_are_looked_for_is_in_nobodys_way(
    tmp_path, monkeypatch
):
    (gone := tmp_path / ".writing-gone").mkdir()
    stat = Path.stat

    def vanished(path, **more):
        if path == gone:
            raise FileNotFoundError(path)
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", vanished)
    assert tokens.read(tmp_path, tokens.write(tmp_path, DOCUMENTS))


def test_processes_that_write_at_once_end_with_one_map(tmp_path):
    script = (
        "import pathlib, sys; from extrap.data.corpora import token_map as tokens\n"
        "documents = [('train', b'%d' % i * 50) for i in range(1000)]\n"
        "[print(tokens.write(pathlib.Path(sys.argv[1]), documents)) for _ in range(20)]"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = {line for process in started for line in process.communicate()[0].split()}
    assert [process.returncode for process in started] == [0, 0]
    assert folders(tmp_path) == [*said]
    assert tokens.read(tmp_path, *said)


@pytest.mark.parametrize("name", ["train.bin", "validation.offsets", "about.json"])
@pytest.mark.parametrize("harm", ["cut", "gone"])
def test_a_damaged_map_is_not_read_and_is_written_again(tmp_path, name, harm):
    sha256 = tokens.write(tmp_path, DOCUMENTS)
    path = tmp_path / sha256 / name
    path.write_bytes(path.read_bytes()[:-8]) if harm == "cut" else path.unlink()
    assert tokens.read(tmp_path, sha256) is None
    assert tokens.write(tmp_path, DOCUMENTS) == sha256
    assert tokens.read(tmp_path, sha256)
    assert folders(tmp_path) == [sha256]
