"""Jobs of a sweep are composed once and varied: the same as composed one by one."""

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from extrap.cli import schema as config
from extrap.cli.sweep.varied import Varied
from extrap.utils.paths import conf_dir

BATCH = [
    ["scheme=rope", "seed=0", "train.lr=0.002"],
    ["scheme=rope", "seed=1", "train.lr=0.002"],
    ["seed=2", "scheme=alibi", "label='a b'"],
    ["task=[nll,kv]", "task.kv.multiples=[1,2]", "seed=3"],
    ["data/corpus=files", "data.corpus.path=a/b", "seed=4"],
    ["finetune=full", "data@finetune.data=text", "seed=5"],
    ["experiment=smoke", "seed=6"],
    ["+task.kv.more=3", "seed=7"],
    ["~task.kv.trials", "seed=8"],
    ["label=${study}", "study=s"],
    [],
]


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
def varied(loader) -> Varied:
    return Varied(loader, compose("config", ["study=s"], return_hydra_config=True))


def test_a_varied_configuration_is_the_composed_one(varied: Varied) -> None:
    for overrides in BATCH:
        whole = varied.loader.load_sweep_config(varied.master, overrides)
        assert OmegaConf.to_container(varied(overrides)) == OmegaConf.to_container(whole)


def test_jobs_that_differ_in_plain_options_are_composed_once(varied: Varied) -> None:
    found = [varied(["scheme=t5", f"seed={seed}", "train.steps=9"]) for seed in range(5)]
    assert varied.loader.count == 1
    assert [cfg.seed for cfg in found] == [0, 1, 2, 3, 4]
    varied(["scheme=nope", "seed=0"])
    assert varied.loader.count == 2


@pytest.mark.parametrize("wrong", [["seed=x"], ["trian.steps=3"], ["scheme=ropee"], ["scheme="]])
def test_what_cannot_be_composed_is_told_in_the_words_of_the_loader(
    varied: Varied, wrong: list[str]
) -> None:
    with pytest.raises(Exception) as one:  # whatever Hydra makes of it
        varied.loader.load_sweep_config(varied.master, wrong)
    with pytest.raises(type(one.value)) as other:
        varied(wrong)
    assert str(other.value) == str(one.value)
