"""Words of the command line: what Hydra cannot read becomes a text, and options of a swept group
are put in after its choice.
"""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from extrap.cli.words import as_text, quoted, readable

NAMES = [
    "with (1).txt",
    "a=b.txt",
    "~/naïve Überzug 一二",
    "c:d;e|f&g",
    "[draft].txt",
    "#hash",
    "α^2",
]


def parsed(word: str):
    return OverridesParser.create().parse_override(word)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_that_hydra_cannot_read_is_a_text(name):
    [word] = readable([f"data.corpus.path={name}"])
    assert parsed(word).value() == name
    assert readable([word]) == [word]  # as a job of a sweep gets it
    _, word = readable([f"data.corpus.path={name},{name}", "-m"])
    assert [one.strip("'") for one in parsed(word).sweep_string_iterator()] == [name, name]


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_a_quoted_text_is_read_as_it_was(text):
    text = text.replace("${", "")
    assert parsed(f"a={quoted(text)}").value() == text
    *_, last = parsed(f"a=0,{as_text(text)}").sweep_string_iterator()
    assert parsed(f"a={last}").value() == text


@pytest.mark.parametrize(
    "word",
    ["scheme=rope,alibi", "path='a b'", "path=null", "path=${oc.env:TEXT}", "path=glob(*)", "path",
     "~path", "+path=a", "task=[kv,nll]", "path=", "--cfg"],
)  # fmt: skip
def test_what_hydra_reads_and_what_is_no_option_is_left_alone(word):
    assert readable([word]) == [word]


@pytest.mark.parametrize(
    "words, found",
    [
        ("-m extension=pi,ntk extension.factor=8", "extension.factor=choice(8)"),
        ("--multirun extension=pi,ntk +extension.factor=8", "+extension.factor=choice(8)"),
        ("-m scheme=glob(r*) scheme.base=10", "scheme.base=choice(10)"),
        ("-m data/corpus=torch,files data.corpus.path=a", "data.corpus.path=choice(a)"),
        ("-m data@finetune.data=text,query finetune.data.size=8", "finetune.data.size=choice(8)"),
        ("-m task=[nll],[kv] task.kv.depths=[0,1]", "task.kv.depths=choice([0,1])"),
        ("-m extension=pi,ntk extension.factor=null", "extension.factor=null,null"),
        ("-m extension=pi,ntk extension.factor=2,4", "extension.factor=2,4"),
        ("-m extension=pi,ntk seed=1", "seed=1"),
        ("-m extension=pi extension.factor=8", "extension.factor=8"),
        ("-m scheme=rope,alibi schemes.base=8", "schemes.base=8"),
        ("-m scheme=rope,alibi ~scheme.base", "~scheme.base"),
        ("-m data/corpus=torch,files data.corpus.path=~/a", "data.corpus.path=choice('~/a')"),
        ("extension=pi extension.factor=8", "extension.factor=8"),
    ],
)  # fmt: skip
def test_an_option_of_a_swept_group_becomes(words, found):
    *first, last = words.split()
    assert readable([*first, last]) == [*first, found]


def test_an_option_that_the_default_choice_lacks_reaches_every_job(tiny):
    """ALiBi has slopes, RoPE, the default scheme, has none."""
    done = tiny("-m", "scheme=choice(alibi)", "scheme.slopes=4", "seed=0,1")
    assert done.returncode == 0, done.stderr
    assert "2 done, 0 skipped, 0 failed" in done.stderr
    assert sorted(tiny.events()) == [f"{e} alibi-s{n}" for e in ("end", "start") for n in (0, 1)]
