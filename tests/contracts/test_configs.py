"""The YAML of conf/data: constructor calls written down, and the choices that the command line
makes of them.
"""

import inspect

import numpy as np
import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from extrap.runs.build import build, find
from tests.support.discover import CONF, calls
from tests.support.hand import drawn_from

CORPORA = sorted(path.stem for path in (CONF / "data" / "corpus").glob("*.yaml"))


@pytest.mark.parametrize(
    "name",
    [
        "mixture",
        *(f"corpus/{name}" for name in CORPORA),
        "vocabulary/bytes",
        "vocabulary/tokenizer",
    ],
)
def test_every_parameter_is_there_with_its_default(name):
    for path, call in calls(yaml.safe_load((CONF / "data" / f"{name}.yaml").read_text())):
        parameters = inspect.signature(find(call["_target_"], name)).parameters
        given = set(call) - {"_target_", "defaults"}
        assert given | (
            {"corpus", "vocabulary"} if name == "mixture" and not path else set()
        ) == set(parameters), path
        if call.get("name", "???") != "???":
            continue  # a corpus of a hub by name chooses its own values
        for key in given - {path.rpartition(".")[2] for path, _ in calls(call)}:
            default = parameters[key].default
            assert call[key] == ("???" if default is inspect.Parameter.empty else default), key


def mixture(data):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        cfg = compose(overrides=[f"+data={data}"])
    return build(OmegaConf.to_container(cfg)["data"], "data")


@pytest.mark.parametrize("part", ["text", "retrieval"])
def test_a_control_is_one_part_of_the_mixture(part):
    assert list(mixture(part).parts) == [part]


def test_forms_of_the_query_are_tuned_on_as_many_answers():
    """Models tuned on them stand side by side: as many steps must be as much to learn from."""
    stream, scored = np.random.default_rng(0).integers(256, size=10000).astype(np.uint16), {}
    for form in ("last", "both", "first"):
        made = mixture(f"query-{form}")
        (part,) = made.parts.values()
        drawn = (
            part.draw(drawn_from(t, made.vocabulary, stream, made.length), 0.999) for t in range(40)
        )
        scored[form] = np.mean([answers.sum() for _, answers in drawn])
    assert max(scored.values()) < 1.03 * min(scored.values()), scored
