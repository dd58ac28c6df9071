"""Jobs of a sweep are composed once and varied: the same as composed one by one."""

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from extrap.cli import schema as config
from extrap.cli.composed import plain
from extrap.cli.sweep.varied import Varied
from extrap.utils.paths import conf_dir

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
    [["experiment=smoke", "seed=6"], ["experiment=smoke", "seed=7"]],
    [["+task.kv.more=3", "seed=7"], ["+task.kv.more=3", "seed=8"]],
    [["~task.kv.trials", "seed=8"], ["~task.kv.trials", "seed=9"]],
    [["task.kv={trials: 3}", "seed=8"], ["task.kv={trials: 3}", "seed=9"]],
    [["task.kv={trials: 3}", "task.kv.trials=4"], ["task.kv={trials: 3}", "task.kv.trials=5"]],
    [["task.kv.trials=4", "task.kv={trials: 3}"], ["task.kv.trials=5", "task.kv={trials: 3}"]],
    [["label=${study}", "study=s"], ["label=${study}", "study=t"]],
    [["label=${hydra:overrides.task.1}", f"seed={seed}"] for seed in (0, 1)],
    [["label=${hydra:job.override_dirname}", EXCLUDED, f"seed={seed}"] for seed in (0, 1)],
    [["label=${hydra:sweep.dir}", f"study={study}"] for study in "ab"],
    [["model=checkpoint", "model.checkpoint=a"], ["model=checkpoint", "model.checkpoint=b"]],
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
    config.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        yield Counted(GlobalHydra.instance().config_loader())


@pytest.fixture
def varied(loader):
    master = compose("config", ["study=s", "hydra.mode=MULTIRUN"], return_hydra_config=True)
    return Varied(loader, master, plain)


def whole(varied: Varied, overrides: list[str]) -> str:
    """Composes a job by itself. A string: 1 is another value than 1.0 and true."""
    return repr(varied._read(varied.loader.load_sweep_config(varied.master, overrides)))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind[0]))
def test_a_varied_configuration_is_the_composed_one(varied, kind):
    wholes = [whole(varied, overrides) for overrides in kind]
    for overrides, expected in zip((*kind, *kind), (*wholes, *wholes), strict=True):
        assert repr(varied(overrides)) == expected


def test_jobs_that_differ_in_plain_options_are_composed_once(varied):
    found = [varied(["scheme=t5", f"seed={seed}", "train.steps=9"]) for seed in range(5)]
    assert varied.loader.count == 1
    assert [job.values["seed"] for job in found] == [0, 1, 2, 3, 4]
    assert all(job.values["data"] is found[0].values["data"] for job in found)
    varied(["scheme=nope", "seed=0"])
    assert varied.loader.count == 2


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (["seed=1"], ["seed=x"]),
        (["seed=1"], ["seed=null"]),
        (["stage=all"], ["stage=tain"]),
        (["plugins=[a]"], ["plugins=a"]),
        ([], ["trian.steps=3"]),
        ([], ["scheme=ropee"]),
        ([], ["scheme="]),
    ],
)
def test_what_cannot_be_composed_is_told_in_the_words_of_the_loader(varied, right, wrong):
    with pytest.raises(Exception) as one:  # whatever Hydra makes of it
        varied.loader.load_sweep_config(varied.master, wrong)
    before = varied(right)
    with pytest.raises(type(one.value)) as other:
        varied(wrong)
    assert str(other.value) == str(one.value)
    assert varied(right) == before
