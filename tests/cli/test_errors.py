"""What a person sees after a mistake on the command line: one line on stderr, and exit code 2."""

import os
import sys

import pytest

from extrap.cli.shared import reported
from extrap.utils.errors import printable

FILES = {
    "broken": ("seed: [\n", "broken.yaml: line 1 is not YAML: "),
    "escape": ('label: "\x1b[2J"\n', "escape.yaml: no YAML (unacceptable character #x001b"),
    "number": ("seed: !!int x\n", "number.yaml: no YAML (invalid literal for int()"),
    "typo": ("# @package _global_\nlrr: 3\n", "typo.yaml: lrr: no such option; did you mean lr? "),
}


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_in_a_file_is_one_line_that_names_it(name, tiny):
    """Mistakes in words: tests/faults/cases_whole.py."""
    text, line = FILES[name]
    (tiny.source / "conf" / "experiment" / f"{name}.yaml").write_text(text, encoding="utf-8")
    done = tiny(f"experiment={name}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert line in done.stderr
    assert os.listdir(tiny.work) == []


def test_no_mistake_no_word(tiny):
    done = tiny("seed=1", "scheme=alibi")
    assert (done.returncode, tiny.events()) == (0, ["start alibi-s1", "end alibi-s1"])
    assert done.stdout == "threads 1, heavy modules []\n"
    assert os.listdir(tiny.work) == ["events.txt"]


def test_a_bug_has_its_traceback(tiny):
    done = tiny("seed=1", "act=raise")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert done.stderr.endswith("RuntimeError: the loss went up\n")


def like_lightning() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        sys.exit(1)


def by_hand() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupt", [by_hand, like_lightning])
def test_interruption_is_one_line_through_both_frames(interrupt, capsys):
    with pytest.raises(SystemExit) as end, reported(), reported():
        interrupt()
    assert end.value.code == 130
    assert capsys.readouterr().err == "extrap: interrupted; the same command continues\n"


def test_finished_work_is_not_checked(tiny):
    (tiny.work / "rope-s-1.done").touch()
    assert tiny("seed=-1").returncode == 0


def test_a_word_of_fifty_thousand_letters_is_cut():
    assert printable(f"label={'a' * 50_000}: letters") == f"label={'a' * 54}... letters"
    assert printable("/".join(["folder"] * 100)) == "/".join(["folder"] * 100)
