"""Corpora of local files: what is read, how it is split, when it is read again, what fails."""

import gzip
import json
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from extrap.data.corpora import base, reader
from extrap.data.corpora.base import split_of
from extrap.data.corpora.files import Files
from extrap.data.corpora.hub import Hub
from extrap.data.corpora.pieces import cut
from extrap.data.encoder import BYTES
from extrap.data.tokenizer import Tokenized
from extrap.runs.texts import opened
from extrap.utils.errors import UserError


@pytest.fixture
def folder(tmp_path):
    """Forty documents, some deeper than others."""
    for i in range(40):
        path = tmp_path / "text" / ("ab"[i % 2]) / f"{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"document {i} naïve\n" * (i + 1), encoding="utf-8")
    return tmp_path / "text"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def texts(corpus):
    return {
        split: [bytes(d.astype("u1")).decode() for d in corpus.documents(split)]
        for split in ("train", "validation")
    }


def test_a_folder_is_its_files_in_the_order_of_their_names(folder, cache):
    corpus = Files(path=str(folder)).open(cache)
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.txt"))
    for split, found in texts(corpus).items():
        assert found == [
            (folder / name).read_text(encoding="utf-8")
            for name in names
            if split_of(name, 0.25) == split
        ]
        long = [len(text) for text in corpus.documents(split) if len(text) >= 300]
        assert [len(text) for text in corpus.documents(split, at_least=300)] == long
    assert corpus.name == "text"
    assert corpus.option == f"data.corpus.path={folder}"


def test_a_document_stays_in_its_split_when_others_come(folder, cache):
    before = texts(Files(path=str(folder)).open(cache))
    (folder / "a" / "more.txt").write_text("more")
    after = texts(Files(path=str(folder)).open(cache))
    assert all(set(before[split]) <= set(after[split]) for split in before)
    assert sum(map(len, after.values())) == 41


def test_the_split_follows_the_share():
    names = [f"{i}.py" for i in range(2000)]
    small, large = (
        {name for name in names if split_of(name, share) == "validation"} for share in (0.1, 0.3)
    )
    assert small < large
    assert len(small) == pytest.approx(200, abs=45)
    assert len(large) == pytest.approx(600, abs=65)


def test_a_long_document_is_cut_and_its_pieces_are_split(folder, cache):
    assert list(cut("a", b"12345", 2)) == [("a#0", b"12"), ("a#1", b"34"), ("a#2", b"5")]
    assert list(cut("a", b"12345", 5)) == [("a", b"12345")]
    path = folder / "one.txt"
    path.write_text("".join(f"{i:04d}" for i in range(1000)))
    made = texts(Files(path=str(path), document_tokens=40).open(cache))
    assert all(len(text) == 40 for text in made["train"] + made["validation"])
    assert sorted(made["train"] + made["validation"]) == [
        path.read_text()[i : i + 40] for i in range(0, 4000, 40)
    ]
    assert made["validation"]


def test_patterns_hidden_files_and_odd_names(folder, cache):
    (folder / ".hidden").write_text("hidden")
    (folder / "[odd] name?.md").write_text("odd")
    (folder / "empty.txt").write_text("")
    both = {
        split: set(found)
        for split, found in texts(Files(path=f"{folder}/**/*.txt").open(cache)).items()
    }
    assert sum(map(len, both.values())) == 40
    whole = texts(Files(path=str(folder)).open(cache))
    assert set().union(*whole.values()) - set().union(*both.values()) == {"odd"}
    names = [name for name, _ in Files(path=f"{folder}/b/*.txt").documents()]
    assert names == sorted(f"{i}.txt" for i in range(1, 40, 2))


def test_tables_and_compressed_files_of_which_the_reading_library_leaves_nothing(
    tmp_path, monkeypatch
):
    import datasets
    import pandas as pd

    (left := tmp_path / "left").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(left))
    level, bars = datasets.logging.get_verbosity(), datasets.are_progress_bars_disabled()
    rows = [{"body": f"row {i}", "n": i} for i in range(3)]
    pd.DataFrame(rows).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress((tmp_path / "t.jsonl").read_bytes()))
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(b"plain"))
    found = dict(Files(path=str(tmp_path), column="body").documents())
    expected = {
        f"{name}#{i}": b"row %d" % i
        for name in ("t.parquet", "t.jsonl", "t.jsonl.gz")
        for i in range(3)
    }
    assert found == expected | {"t.txt.gz": b"plain"} and [*left.iterdir()] == []
    assert datasets.logging.get_verbosity() == level
    assert datasets.are_progress_bars_disabled() == bars


def test_what_stands_late_in_a_file_of_json_changes_nothing_before_it(tmp_path):
    """`datasets` settles the types of all columns on the first 10 MB."""
    said = 'He said "no".\n' * 800
    rows = [{"text": f"{i} {said}", "score": i} for i in range(900)]
    late = [{"text": "late", "score": 0.5, "more": {"a": [1]}, "message": "x", "type": "user"}]
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(map(json.dumps, rows + late)))
    found = [text.decode() for _, text in Files(path=str(file), document_tokens=10**9).documents()]
    assert found == [row["text"] for row in rows + late]
    file.write_text("\n".join(map(json.dumps, [*rows, {"text": 5}])))
    with pytest.raises(UserError):
        list(Files(path=str(file)).documents())


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.jsonl", '\ufeff{"text":"a"}\r\n\n{"text":"b\u2028c","n":NaN}', ["a", "b\u2028c"]),
        ("a.json", '\n [{"text": "a"},\n {"text": "b"}]', ["a", "b"]),
        ("a.json", '["a", "b"]', ["a", "b"]),
        ("a.jsonl", '{"text": "a", "id": %s}' % ("9" * 5000), ["a"]),
        ("a.txt", "\ufeffa\r\nb\rc", ["a\nb\nc"]),
        ("std::a.txt", "a", ["a"]),
    ],
)
def test_forms_of_text(tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content.encode())
    assert [text.decode() for _, text in Files(path=str(tmp_path)).documents()] == found


def test_a_file_under_two_names_is_one_document(tmp_path):
    """Else one of them could be trained on, and the other asked."""
    (tmp_path / "v1").mkdir()
    for i in range(3):
        (tmp_path / "v1" / f"{i}.txt").write_text(f"text {i}")
        (tmp_path / f"{i}.txt").symlink_to(tmp_path / "v1" / f"{i}.txt")
    (tmp_path / "latest").symlink_to("v1")
    for path in (tmp_path, f"{tmp_path}/**/*.txt"):
        found = [text for _, text in Files(path=str(path)).documents()]
        assert found == [b"text 0", b"text 1", b"text 2"]


def test_unchanged_text_is_not_read_again(folder, cache, monkeypatch):
    monkeypatch.setattr(reader, "SETTLED", -60)  # as if the files had been there for a while
    source = Files(path=str(folder))
    first = source.open(cache)
    monkeypatch.setattr(Files, "documents", lambda self: pytest.fail("read again"))
    again = source.open(cache)
    assert (again.sha256, texts(again)) == (first.sha256, texts(first))


def test_changed_text_and_changed_options_are_noticed(folder, cache, monkeypatch):
    monkeypatch.setattr(reader, "SETTLED", -60)
    hashes = [
        Files(path=str(folder)).open(cache).sha256,
        Files(path=str(folder), validation=0.5).open(cache).sha256,
    ]
    hashes.append(Files(path=str(folder), document_tokens=50).open(cache).sha256)
    (folder / "a" / "0.txt").write_text("something else")
    hashes.append(Files(path=str(folder)).open(cache).sha256)
    (folder / "a" / "0.txt").unlink()
    hashes.append(Files(path=str(folder)).open(cache).sha256)
    assert len({*hashes}) == 5


def test_a_change_that_leaves_size_and_time_is_noticed_in_new_files(folder, cache):
    path = folder / "a" / "0.txt"
    before, times = (
        Files(path=str(folder)).open(cache).sha256,
        (path.stat().st_atime_ns, path.stat().st_mtime_ns),
    )
    path.write_bytes(path.read_bytes().replace(b"document", b"DOCUMENT"))
    os.utime(path, ns=times)
    assert Files(path=str(folder)).open(cache).sha256 != before


def test_text_that_changes_while_it_is_read_is_read_again(folder, cache, monkeypatch):
    monkeypatch.setattr(reader, "SETTLED", -60)
    real = Files.documents

    def changing(self):
        yield from real(self)
        (folder / "a" / "0.txt").write_text("late")

    with monkeypatch.context() as patch:
        patch.setattr(Files, "documents", changing)
        Files(path=str(folder)).open(cache)
    found = texts(Files(path=str(folder)).open(cache))
    assert "late" in found["train"] + found["validation"]


def test_the_same_words_mean_other_text_in_another_folder(tmp_path, monkeypatch):
    found = []
    for name in ("one ", "two "):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name * 50)
        monkeypatch.chdir(tmp_path / name)
        found.append(opened(Files(path="a.txt", document_tokens=8), BYTES))
        assert opened(Files(path="a.txt", document_tokens=8), BYTES) is found[-1]
    assert ["".join(texts(corpus)["train"][:1]) for corpus in found] == ["one " * 2, "two " * 2]


@dataclass(frozen=True, kw_only=True)
class Chosen(Files):
    """A source of a plug-in, with an option that has no hash."""

    names: list[str]


def test_options_may_be_lists(folder):
    first, again, other = (
        opened(Chosen(path=str(folder), names=names), BYTES) for names in (["a"], ["a"], ["b"])
    )
    assert first is again and first is not other


def test_tokens_need_room_where_they_are_kept(folder, tmp_path, monkeypatch):
    """A byte is a token of two bytes, and a token of a tokenizer has more than its id."""
    size = sum(path.stat().st_size for path in folder.rglob("*.txt"))
    (tmp_path / "disk").mkdir()
    source = Files(path=str(folder))

    def usage(path):
        free = size * 3 // 2 if str(path) == str(tmp_path / "disk") else 0
        return SimpleNamespace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(
        UserError, match=r"on the disk of .*/disk/cache; make room, .* EXTRAP_TOKENS"
    ):
        source.open(tmp_path / "disk" / "cache")
    encoder = Tokenized(tokenizer="package:extrap/data/corpora/prose.json").encoder
    with monkeypatch.context() as shards:
        shards.setattr(base, "SHARD", 0)
        with pytest.raises(UserError, match="make room"):
            source.open(tmp_path / "disk" / "cache", encoder)
    assert len(source.open(tmp_path / "disk" / "cache", encoder).stream("train"))


@pytest.mark.parametrize("join", [r"\n", r"\n\n", r"-\t"])
@pytest.mark.parametrize("source", [Files, Hub])
def test_a_backslash_and_a_letter_are_no_end_of_a_line(source, join):
    with pytest.raises(UserError) as error:
        source(join=join, **({"path": "a"} if source is Files else {}))
    assert error.value.option == "data.corpus.join"
    assert f"""type data.corpus.join=$'"{join}"' for""" in str(error.value)


def test_half_of_a_character_is_named_in_one_line(tmp_path):
    """Others: tests/faults/cases_files.py."""
    (tmp_path / "half.jsonl").write_text('{"text": "\\ud800"}')
    with pytest.raises(UserError) as error:
        list(Files(path=str(tmp_path)).documents())
    assert error.value.option == "data.corpus.path" and "\n" not in str(error.value)


def test_lines_that_begin_a_document_split_a_file(tmp_path, cache):
    articles = {"a.txt": "before\n"} | {
        f"a.txt#= {i} =": f" = {i} = \n = = part = = \ntext {i}\n" for i in range(30)
    }
    (tmp_path / "a.txt").write_text("".join(articles.values()))
    for split, found in texts(
        Files(path=str(tmp_path / "a.txt"), begins="^ = [^=]").open(cache)
    ).items():
        assert found == [text for name, text in articles.items() if split_of(name, 0.25) == split]


def test_a_line_begins_a_document_wherever_the_pattern_matches_in_it(tmp_path):
    (tmp_path / "a.txt").write_text("Chapter 1\nof Chapter 3 it says, Chapter 4\nthe end\n")
    found = list(Files(path=str(tmp_path / "a.txt"), begins=r"Chapter \d").documents())
    assert found == [
        ("a.txt#Chapter 1", b"Chapter 1\n"),
        ("a.txt#of Chapter 3 it says, Chapter 4", b"of Chapter 3 it says, Chapter 4\nthe end\n"),
    ]


def test_a_pattern_with_empty_lines_in_front_takes_none_of_the_text_before(tmp_path):
    (tmp_path / "a.txt").write_text("preface\n\n\nCHAPTER 1\none\n\nCHAPTER 2\ntwo\n")
    found = list(Files(path=str(tmp_path / "a.txt"), begins=r"\n\nCHAPTER").documents())
    assert found == [
        ("a.txt", b"preface\n\n\n"),
        ("a.txt#CHAPTER 1", b"CHAPTER 1\none\n\n"),
        ("a.txt#CHAPTER 2", b"CHAPTER 2\ntwo\n"),
    ]


def test_documents_behind_a_separator_have_names_of_their_own(tmp_path):
    """By one name, all of them would go to one split. Articles of one title stay in one."""
    (tmp_path / "a.txt").write_text("---\none\n---\ntwo\n= 1 =\n---\nthree\n")
    found = list(Files(path=str(tmp_path / "a.txt"), begins="^(---|=)").documents())
    assert found == [
        ("a.txt#---", b"---\none\n"),
        ("a.txt#---#1", b"---\ntwo\n"),
        ("a.txt#= 1 =", b"= 1 =\n"),
        ("a.txt#---#2", b"---\nthree\n"),
    ]
    (tmp_path / "a.txt").write_text("= a =\n= b =\n= a =\n= c =\n")
    found = [name for name, _ in Files(path=str(tmp_path / "a.txt"), begins="^=").documents()]
    assert found == ["a.txt#= a =", "a.txt#= b =", "a.txt#= a =", "a.txt#= c ="]


@pytest.mark.parametrize("join", [None, "-"])
def test_lines_begin_no_document_among_rows_or_in_one_joined_text(join, folder, cache):
    if join is None:
        (folder / "t.jsonl").write_text('{"text": "= 1 =\\ntext"}\n')
    with pytest.raises(UserError) as error:
        Files(path=str(folder), begins="^=", join=join).open(cache)
    assert error.value.option == "data.corpus.begins" and not cache.exists()


def test_a_saved_set_is_what_its_state_lists(tmp_path):
    """An earlier saving in more files, and `map`, leave theirs there."""
    import datasets

    saved = tmp_path / "saved"
    for texts, count in ((["old"] * 4, 2), (["one", "two"], 1)):
        datasets.Dataset.from_dict({"text": texts}).save_to_disk(str(saved), num_shards=count)
    shutil.copy(saved / "data-00000-of-00002.arrow", saved / "cache-0.arrow")
    (saved / "notes.txt").write_text("notes")
    for path, more in ((saved, [b"notes"]), (saved / "*.arrow", [])):
        found = [text for _, text in Files(path=str(path)).documents()]
        assert found == [*more, b"one", b"two"]


def test_a_saved_set_with_splits_is_one_of_them(tmp_path):
    import datasets

    saved = tmp_path / "saved"
    splits = {split: datasets.Dataset.from_dict({"text": [split]}) for split in ("test", "train")}
    datasets.DatasetDict(splits).save_to_disk(str(saved))
    for path in (saved, tmp_path):
        with pytest.raises(UserError) as error:
            Files(path=str(path)).state()
        assert error.value.option == "data.corpus.path" and "splits test, train" in str(error.value)
        assert str(error.value).endswith(f"give data.corpus.path={saved / 'train'}")
    found = [text for _, text in Files(path=str(saved / "train")).documents()]
    assert found == [b"train"]
    shutil.rmtree(saved / "test")
    assert [text for _, text in Files(path=str(saved)).documents()] == [b"train"]


@pytest.mark.parametrize("joins", [(None, ""), ("", None)])
def test_rows_joined_by_nothing_are_another_text_than_rows_apart(joins, tmp_path, cache):
    rows = [{"text": f"paragraph {i} of a text\n"} for i in range(200)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = str(tmp_path / "t.jsonl")
    found = [Files(path=file, document_tokens=512, join=join) for join in joins]
    counts = [len(texts(source.open(cache))["train"]) for source in found]
    assert counts[0] != counts[1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("café ".encode("latin-1") * 99, "not UTF-8 .*iconv -f latin1 -t utf-8"),
        ("café ".encode("utf-16") * 99, "not UTF-8 .*iconv -f utf-16 -t utf-8"),
        (b"\x28\xb5\x2f\xfd\x24" + bytes(range(128, 250)), "packed by zstd"),
        (b"BZh91AY&SY" + bytes(range(128, 250)), "packed by bzip2"),
        (b"\x1f\x8b\x08" + bytes(range(128, 250)), "packed by gzip"),
        ("café ".encode("utf-32") * 99, "not UTF-8 .*iconv -f utf-32 -t utf-8"),
        (b"text " * 99 + bytes(999), "more than a fifth of its bytes are NUL"),
        *(
            ("a word ".encode(form) * 99, f"{form[:6].upper()} without .*iconv -f {form} ")
            for form in ("utf-16le", "utf-16be", "utf-32le", "utf-32be")
        ),
    ],
)
def test_other_bytes_than_utf8_say_what_to_do(content, expected, tmp_path, cache):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(UserError, match=expected):
        Files(path=str(tmp_path / "a.txt")).open(cache)


@pytest.mark.parametrize("block", [reader.CHUNK, 1])
@pytest.mark.parametrize("end", ["tar", "tar.gz", "tgz"])
def test_an_archive_is_no_text(end, block, folder, tmp_path, cache, monkeypatch):
    monkeypatch.setattr("extrap.data.corpora.files.BLOCK", block)
    with tarfile.open(tmp_path / f"a.{end}", "w" if end == "tar" else "w:gz") as archive:
        archive.add(folder)
    program = "gzip" if end == "tgz" else "tar"
    with pytest.raises(UserError, match=f"packed by {program}; .*; unpack it"):
        Files(path=str(tmp_path / f"a.{end}")).open(cache)


@pytest.mark.parametrize("end, known", [("feather", "arrow"), ("pq", "parquet")])
def test_a_table_under_another_name_is_read_under_its_own(end, known, tmp_path, cache):
    import pyarrow as pa
    from pyarrow import feather, parquet

    write = {"feather": feather.write_feather, "pq": parquet.write_table}[end]
    write(pa.table({"text": ["a", "b"]}), str(path := tmp_path / f"a.{end}"))
    with pytest.raises(UserError, match=f"give it a name that ends in .{known}"):
        Files(path=str(path)).open(cache)
    renamed = path.rename(path.with_suffix(f".{known}"))
    assert [text for _, text in Files(path=str(renamed)).documents()] == [b"a", b"b"]


def test_a_text_may_hold_a_nul(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\0b")
    assert [text for _, text in Files(path=str(tmp_path)).documents()] == [b"a\0b"]


def test_a_text_may_begin_like_a_name_of_bzip2(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"BZhang")
    assert [text for _, text in Files(path=str(tmp_path)).documents()] == [b"BZhang"]


def test_parquet_without_rows_holds_no_document(tmp_path):
    """Neither in a file nor in a group of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    full = pa.table({"text": ["a", "b"]})
    pq.write_table(full[:0], tmp_path / "0.parquet")
    with pq.ParquetWriter(tmp_path / "1.parquet", full.schema) as file:
        file.write_table(full[:0])
        file.write_table(full)
    assert [text for _, text in Files(path=str(tmp_path)).documents()] == [b"a", b"b"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_row_with_null_is_left_out(kind, tmp_path, cache):
    rows = [{"text": None if i % 3 else f"row {i} " * 9, "n": i} for i in range(60)]
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    found = texts(Files(path=str(path)).open(cache))
    assert sorted(found["train"] + found["validation"]) == sorted(
        row["text"] for row in rows if row["text"]
    )
