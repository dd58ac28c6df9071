"""Words of a sweep: grids become overrides, what Hydra cannot read becomes a text, and jobs are
composed once and varied.
"""

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from extrap.cli import config_schema
from extrap.cli.composed import plain
from extrap.cli.sweep.grid import chosen, overrides
from extrap.cli.sweep.varied import Varied
from extrap.cli.words import as_text, quoted, readable
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir


def test_a_grid_becomes_overrides():
    made = overrides(
        [
            {"scheme": ["rope", "alibi"], "seed": 3, "data@finetune.data": "text"},
            {"scheme": {"glob": "rope*", "exclude": ["rope"]}, "task": [["nll", "kv"], ["kv"]]},
            {"scheme.base": [1e-5, 2.0, True, None], "data/corpus": "torch"},
        ]
    )
    assert made == [
        ["scheme=rope,alibi", "seed=3", "data@finetune.data=text"],
        ["scheme=glob(rope*,exclude=[rope])", "task=[nll,kv],[kv]"],
        ["scheme.base=1e-05,2.0,true,null", "data/corpus=torch"],
    ]
    assert overrides(None) == overrides({}) == overrides([]) == [[]]


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
    "words, found",
    [
        ("-m extension=pi,ntk extension.factor=8", "extension.factor=choice(8)"),
        ("-m scheme=glob(r*) scheme.base=10", "scheme.base=choice(10)"),
        ("-m data@finetune.data=text,query finetune.data.size=8", "finetune.data.size=choice(8)"),
        ("-m extension=pi,ntk extension.factor=null", "extension.factor=null,null"),
        ("-m extension=pi,ntk seed=1", "seed=1"),
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


EXCLUDED = "hydra.job.config.override_dirname.exclude_keys=[label]"
KINDS = [
    [["scheme=rope", "seed=0", "train.lr=0.002"], ["scheme=rope", "seed=1", "train.lr=2e-3"]],
    [["seed=2", "scheme=alibi", "label='a b'"], ["seed=3", "scheme=alibi", "label=null"]],
    [["train.lr=1", "stage=train"], ["train.lr=2", "stage=evaluate"]],
    [["seed=1", "seed=2"], ["seed=4", "seed=3"]],
    [["task=[nll,kv]", "task.kv.multiples=[1,2]"], ["task=[nll,kv]", "task.kv.multiples=[4]"]],
    [["task.kv.multiples=[1,2]"], ["task.kv.multiples=4"]],
    [["plugins=[a]", "seed=0"], ["plugins=[]", "seed=0"]],
    [["data/corpus=files", "data.corpus.path=a"], ["data/corpus=files", "data.corpus.path=b"]],
    [["finetune=full", "data@finetune.data=text", f"finetune.lr={r}"] for r in (1e-3, 1e-4)],
    [["+task.kv.more=3", "seed=7"], ["+task.kv.more=3", "seed=8"]],
    [["task.kv={trials: 3}", "task.kv.trials=4"], ["task.kv={trials: 3}", "task.kv.trials=5"]],
    [["task.kv.trials=4", "task.kv={trials: 3}"], ["task.kv.trials=5", "task.kv={trials: 3}"]],
    [["label=${study}", "study=s"], ["label=${study}", "study=t"]],
    [["label=${hydra:overrides.task.1}", f"seed={seed}"] for seed in (0, 1)],
    [["label=${hydra:job.override_dirname}", EXCLUDED, f"seed={seed}"] for seed in (0, 1)],
    [["scheme=rope-logn", f"scheme.parts.0.base={base}"] for base in (500, 900)],
    [["model.dim=32", "model.heads=2"], ["model.dim=64", "model.heads=4"]],
    [[], []],
]
"""Two jobs of each kind: the second is varied from the first."""


class Counted:
    """A loader that counts how often it composes."""

    def __init__(self, loader) -> None:
        self.loader, self.count = loader, 0

    def load_sweep_config(self, master, overrides):
        self.count += 1
        return self.loader.load_sweep_config(master, overrides)

    def get_group_options(self, name):
        return self.loader.get_group_options(name)


@pytest.fixture
def loader():
    config_schema.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        yield Counted(GlobalHydra.instance().config_loader())


@pytest.fixture
def varied(loader):
    master = compose("config", ["study=s", "hydra.mode=MULTIRUN"], return_hydra_config=True)
    return Varied(loader, master, plain)


def whole(varied: Varied, overrides: list[str]) -> str:
    """Composes a job by itself. A string: 1 is another value than 1.0 and true."""
    return repr(varied.read(varied.loader.load_sweep_config(varied.master, overrides)))


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind[0]))
def test_a_varied_configuration_is_the_composed_one(varied, kind):
    wholes = [whole(varied, words) for words in kind]
    for words, expected in zip((*kind, *kind), (*wholes, *wholes), strict=True):
        assert repr(varied(words)) == expected


def test_jobs_that_differ_in_plain_options_are_composed_once(varied):
    found = [varied(["scheme=t5", f"seed={seed}", "train.steps=9"]) for seed in range(5)]
    assert varied.loader.count == 1
    assert [job.values["seed"] for job in found] == [0, 1, 2, 3, 4]
    assert all(job.values["data"] is found[0].values["data"] for job in found)
    varied(["scheme=nope", "seed=0"])
    assert varied.loader.count == 2


@pytest.mark.parametrize("wrong", [["seed=x"], ["seed=null"], ["trian.steps=3"]])
def test_what_cannot_be_composed_is_told_in_the_words_of_the_loader(varied, wrong):
    with pytest.raises(Exception) as one:  # whatever Hydra makes of it
        varied.loader.load_sweep_config(varied.master, wrong)
    before = varied(["seed=1"])
    with pytest.raises(type(one.value)) as other:
        varied(wrong)
    assert str(other.value) == str(one.value)
    assert varied(["seed=1"]) == before


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("scheme=rope", [["scheme=rope,alibi", "seed=0,1", "scheme=rope"]]),
        ("scheme=nope", [["scheme=nope", "seed=0,1", "model.layers=3", "scheme=nope"]]),
        ("seed=7", [["scheme=rope,alibi", "seed=0,1", "seed=7"],
                    ["scheme=nope", "seed=0,1", "model.layers=3", "seed=7"]]),
        ("scheme=nope,rope", [["scheme=rope,alibi", "seed=0,1", "scheme=nope,rope", "scheme=rope"],
                              ["scheme=nope", "seed=0,1", "model.layers=3", "scheme=nope,rope",
                               "scheme=nope"]]),
    ],
)  # fmt: skip
def test_a_typed_value_goes_to_the_grids_that_hold_it(typed: str, expected: list) -> None:
    """Else a scheme of one's own would run once more with the layers of another."""
    grids = [["scheme=rope,alibi", "seed=0,1"], ["scheme=nope", "seed=0,1", "model.layers=3"]]
    assert chosen([list(map(parsed, grid)) for grid in grids], [parsed(typed)]) == expected


def test_a_value_that_could_mean_several_grids_is_refused_with_two_ways_out() -> None:
    grids = [["scheme=rope,alibi", "seed=0,1"], ["scheme=nope", "seed=0,1", "model.layers=3"]]
    for typed in ("scheme=mine", "scheme=nope,mine"):
        with pytest.raises(UserError) as refused:
            chosen([list(map(parsed, grid)) for grid in grids], [parsed(typed)])
        line = (
            "scheme=mine: in none of the 2 grids of this experiment, which differ in model.layers; "
        )
        assert str(refused.value).startswith(line)
        assert "`-m scheme=mine sweep.grid=null`" in str(refused.value)
        assert "an experiment of your own" in str(refused.value)
