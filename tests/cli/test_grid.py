"""The node `sweep`: plain data made into overrides, and no part of what a run is."""

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

from extrap.cli import schema as config
from extrap.cli.composed import plain
from extrap.cli.program import job
from extrap.cli.sweep.grid import overrides
from extrap.runs.evaluate import planned
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


@pytest.mark.parametrize(
    "text", ["a,b", "1e5", "[a]", "it's", "a=b c", "choice(a,b)", "ä", "\\", ""]
)
def test_a_text_of_a_grid_is_one_value(text):
    [[word]] = overrides({"label": [text, "b"]})
    [read] = OverridesParser.create().parse_overrides([word])
    jobs = [f"label={value}" for value in read.sweep_string_iterator()]
    found = [one.value() for one in OverridesParser.create().parse_overrides(jobs)]
    assert found == [text, "b"]


@pytest.mark.parametrize("grid", ["scheme=rope", 3, [["scheme"]], {3: [1]}, {"a b": [1]}])
def test_what_is_no_grid_is_refused(grid):
    with pytest.raises(UserError, match=r"^sweep\.grid"):
        overrides(grid)


def test_a_sweep_is_no_part_of_a_run():
    config.register()
    found = []
    for words in ([], ["sweep.jobs=2", "sweep.grid={seed:[0,1]}"]):
        with initialize_config_dir(conf_dir(), version_base="1.3"):
            cfg = compose("config", words, return_hydra_config=True)
        this = job(plain(cfg))
        assert "sweep" not in this.config
        found.append((this.run.name, planned(this)))
    assert found[0] == found[1]
