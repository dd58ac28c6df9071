"""Options of a swept group are put in after its choice, whatever the default choice has."""

import pytest

from extrap.cli.swept_groups import swept_with_their_group
from tests.support.program import Program


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
        ("-m scheme=rope,alibi scheme.base=(", "scheme.base=("),
        ("extension=pi extension.factor=8", "extension.factor=8"),
    ],
)  # fmt: skip
def test_the_last_word_becomes(words, found):
    *first, last = words.split()
    assert swept_with_their_group([*first, last]) == [*first, found]


def test_an_option_that_the_default_choice_lacks_reaches_every_job(tiny: Program):
    """ALiBi has slopes, RoPE, the default scheme, has none."""
    done = tiny("-m", "scheme=choice(alibi)", "scheme.slopes=4", "seed=0,1")
    assert done.returncode == 0, done.stderr
    assert "2 done, 0 skipped, 0 failed" in done.stderr
    assert sorted(tiny.events()) == [f"{e} alibi-s{n}" for e in ("end", "start") for n in (0, 1)]
