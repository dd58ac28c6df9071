"""The curve at step 0: the options of experiment=untrained move no weight."""

import pytest
import torch
import yaml

from extrap.runs import train as stage
from tests.support.discover import CONF
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_one_step_leaves_the_model_as_it_was_drawn():
    options = yaml.safe_load((CONF / "experiment" / "untrained.yaml").read_text())["train"]
    j = job("scheme=t5", *(f"train.{name}={value}" for name, value in options.items()))
    stage.train(j)
    trained, drawn = torch.load(j.run.weights, weights_only=True), j.source.model().state_dict()
    assert trained.keys() == drawn.keys() and j.run.state["steps"] == 1
    for name, weight in drawn.items():
        torch.testing.assert_close(trained[name], weight, atol=1e-10, rtol=1e-6)
