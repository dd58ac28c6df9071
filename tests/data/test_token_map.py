import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from extrap.data.corpora import token_map as tokens
from extrap.data.corpora.base import KEPT
from extrap.data.corpora.hub import Hub
from extrap.data.encoder import BYTES, Bytes

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


def test_on_a_disk_without_locks_another_machine_may_be_first(tmp_path, monkeypatch):
    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    rename = os.replace

    def late(folder, target):
        monkeypatch.setattr(os, "replace", rename)
        tokens.write(tmp_path, DOCUMENTS)
        rename(folder, target)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(os, "replace", late)
    sha256 = tokens.write(tmp_path, DOCUMENTS)
    assert folders(tmp_path) == [sha256]
    assert tokens.read(tmp_path, sha256)


def test_a_second_writer_of_the_same_text_may_be_first(tmp_path):
    def overtaken():
        yield from DOCUMENTS
        tokens.write(tmp_path, DOCUMENTS)

    sha256 = tokens.write(tmp_path, overtaken())
    assert folders(tmp_path) == [sha256]
    assert tokens.read(tmp_path, sha256)


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


def forged(cache: Path, encoder=BYTES) -> str:
    """A map under the name of another text, with an about.json of its own."""
    sha256 = tokens.write(cache, DOCUMENTS, encoder)
    other = tokens.write(cache, [*DOCUMENTS[:-1], ("train", b"y")], encoder)
    about = json.loads((cache / other / "about.json").read_text())
    shutil.rmtree(cache / sha256)
    shutil.copytree(cache / other, cache / sha256)
    (cache / sha256 / "about.json").write_text(json.dumps(about | {"sha256": sha256}))
    return sha256


class Letters(Bytes):
    """An encoder whose tokens do not say what the text was."""

    name, sized = "lower case", True

    def __call__(self, text: bytes):
        return super().__call__(text.lower())


@pytest.mark.parametrize("encoder", [BYTES, Letters()], ids=["bytes", "tokenizer"])
def test_a_forged_map_is_not_read_and_makes_way(tmp_path, encoder):
    sha256 = forged(tmp_path, encoder)
    assert tokens.read(tmp_path, sha256, encoder) is None
    assert tokens.write(tmp_path, DOCUMENTS, encoder) == sha256
    assert tokens.read(tmp_path, sha256, encoder)["train"].tokens[-1] == ord("x")


def test_a_map_that_was_copied_or_changed_in_place_is_not_read(tmp_path):
    sha256 = tokens.write(tmp_path / "here", DOCUMENTS)
    shutil.copytree(tmp_path / "here" / sha256, tmp_path / "there" / sha256)
    assert tokens.read(tmp_path / "there", sha256) is None
    path = tmp_path / "here" / sha256 / "train.bin"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=times)
    assert tokens.read(tmp_path / "here", sha256) is None


def test_a_source_reads_its_text_again_where_a_map_was_forged(tmp_path, monkeypatch):
    """The index is believed for where a map is, never for what is in it."""
    monkeypatch.setattr(Hub, "_rows", lambda self: iter([b"the text of the hub " * 9000]))
    source = Hub(name="a/b", document_tokens=1000)
    true = source.open(tmp_path)
    other = tokens.write(tmp_path, [("train", b"mine"), ("validation", b"mine")])
    shutil.rmtree(tmp_path / true.sha256)
    shutil.copytree(tmp_path / other, tmp_path / true.sha256)
    about = json.loads((tmp_path / other / "about.json").read_text())
    about["sha256"] = true.sha256
    (tmp_path / true.sha256 / "about.json").write_text(json.dumps(about))
    again = source.open(tmp_path)
    assert again.sha256 == true.sha256
    assert bytes(again.stream("train")[:8].astype(np.uint8)) == b"the text"


def test_what_a_killed_writer_left_is_removed_after_a_day(tmp_path):
    for name in (".writing-dead", ".writing-new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.bin").touch()
    for path in (tmp_path / ".writing-dead" / "train.bin", tmp_path / ".writing-dead"):
        os.utime(path, (time.time() - 2 * tokens.LEFT,) * 2)
    tokens.remove_left(tmp_path, tmp_path / ".writing-dead")
    assert folders(tmp_path) == [".writing-dead", ".writing-new"]
    tokens.remove_left(tmp_path)
    assert folders(tmp_path) == [".writing-new"]


def test_a_command_of_two_days_ago_goes_on_from_its_own_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(Hub, "_rows", lambda self: iter([b"the text of the hub " * 9000]))
    source = Hub(name="a/b", document_tokens=1000)
    shards = tmp_path / f".writing-{source._fingerprint(BYTES)}"
    shards.mkdir()
    os.utime(shards, (time.time() - 2 * tokens.LEFT,) * 2)
    seen = []
    monkeypatch.setattr(Hub, "_check_room", lambda *_: seen.extend(folders(tmp_path)))
    source.open(tmp_path)
    assert seen == [shards.name] and shards.name not in folders(tmp_path)


def test_tests_build_no_token_map_in_the_repository(request):
    assert not Path(os.environ[KEPT]).is_relative_to(request.config.rootpath)
