"""Paths of the command line are taken as they are typed."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hypothesis import given
from hypothesis import strategies as st

from extrap.cli.hydra_errors import explain
from extrap.cli.sweep.names import typed
from extrap.cli.typed_paths import in_a_shell, literal, quoted
from extrap.data.corpora.files import Files
from tests.faults.command import whole

NAMES = [
    "plain.txt",
    "with space.txt",
    "a=b.txt",
    "(1).txt",
    "naïve Überzug 一二.txt",
    "a,b.txt",
    "it's.txt",
    "c:d;e|f&g.txt",
    "100%.txt",
    "[draft].txt",
    "back\\slash.txt",
    "null",
    "3",
    "{x}.txt",
    "#hash.txt",
    "choice(a).txt",
]
OPTIONS = ["data.corpus.path", "finetune.data.corpus.path", "task.lost-in-the-middle.path",
           "data.vocabulary.tokenizer", "model.checkpoint", "+data.corpus.path"]  # fmt: skip


def parsed(word: str):
    return OverridesParser.create().parse_override(word)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "null"])
def test_values_of_paths_are_texts(option: str, name: str) -> None:
    [word] = literal([f"{option}={name}"])
    assert parsed(word).value() == name
    assert literal([word]) == [word]  # as a job of a sweep gets it


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_whatever_is_typed_is_what_is_read(text: str) -> None:
    assert parsed(f"a={quoted(text.replace('${', ''))}").value() == text.replace("${", "")


def test_what_is_no_path_is_left_alone() -> None:
    words = ["scheme=rope,alibi", "data.corpus.path='a b'", 'data.corpus.path="a b"', "-m",
             "task.lost-in-the-middle.path=null", "data.corpus.path=${oc.env:TEXT}", "scheme=é",
             "data.corpus.path=glob(*)", "path", "data.corpus.path.x=a b",
             "data.corpus.path="]  # fmt: skip
    assert literal(words) == words


def test_in_a_sweep_commas_stand_between_paths() -> None:
    word = literal(["-m", "data.corpus.path=a (1).txt,b=c.txt"])[1]
    assert list(parsed(word).sweep_string_iterator()) == ["'a (1).txt'", "'b=c.txt'"]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "texts").mkdir()
    return tmp_path / "texts"


@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_that_name_is_read(name: str, texts: Path) -> None:
    (texts / name).write_text("some text")
    for path in (f"texts/{name}", f"~/texts/{name}"):
        [word] = literal([f"data.corpus.path={path}"])
        assert list(Files(path=parsed(word).value()).documents()) == [(name, b"some text")]


def test_the_program_takes_paths_as_they_are_typed(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    name = "a=b (1), naïve's.txt"
    (texts / name).write_text("some text of this file\n" * 4000)
    small = ["logger=none", "data/corpus=files", "task=[nll]", "task.nll.multiples=[1,2]"]
    with pytest.raises(SystemExit, match="1"):
        whole([*small, "task.nll.documents=4", f"data.corpus.path=~/texts/{name}"], monkeypatch)
    assert capsys.readouterr().err.endswith("AssertionError: work began\n")
    assert typed() == shlex.join(["extrap", *small, "task.nll.documents=4",
                                  f"data.corpus.path=~/texts/{name}"])  # fmt: skip


UNREADABLE = {
    "label=é": "label='é'",
    "label=a b(c": "label='a b(c'",
    "study=a=b": "study='a=b'",
}


@pytest.mark.parametrize("word", UNREADABLE)
def test_other_words_are_told_how_to_type_them(word: str) -> None:
    with pytest.raises(HydraException) as caught:
        OverridesParser.create().parse_overrides([word])
    line = explain(caught.value, [word], "conf")
    assert line is not None
    _, _, cure = line.rpartition(": ")
    assert shlex.split(cure) == [UNREADABLE[word]]
    assert parsed(shlex.split(cure)[0]).value() == word.partition("=")[2]


@pytest.mark.parametrize("word", ["a", "a b", "label='é'", "it's", "$HOME", "`a`", 'a"b', "!x", ""])
def test_words_for_a_shell(word: str) -> None:
    said = subprocess.run(["sh", "-c", f"printf %s {in_a_shell(word) or chr(39) * 2}"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert said.stdout == word


@pytest.mark.parametrize("name", ["1e5", "1_000", "ä", "true", "0x1", "mine", "010"])
def test_a_name_is_text_as_it_is_typed(name: str) -> None:
    """Not a number that Hydra reads in it: study=1e5 is no results/100000.0."""
    read = OverridesParser.create().parse_overrides
    for option in ("study", "label"):
        assert str(read(literal([f"{option}={name}"]))[0].value()) == name
        _, word = literal(["-m", f"{option}={name},{name}"])
        [sweep] = read([word])
        jobs = [f"x={value}" for value in sweep.sweep_string_iterator()]
        assert [one.partition("=")[2].strip("'") for one in jobs] == [name, name]
    assert literal(["study=a,b"]) == ["study=a,b"]  # Hydra says that -m is missing
