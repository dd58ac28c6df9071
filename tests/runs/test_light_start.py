"""Packages that no training needs are not imported before its first step."""

import pytest

from tests.support.program import python

SCRIPT = """
import sys
from extrap.cli import program
from extrap.runs import evaluate, train, validate
slow = {"datasets", "wandb", "matplotlib", "scipy.signal", "transformers"}
print(sorted(slow & set(sys.modules)))
from lightning_utilities.core.imports import RequirementCache, package_available
print(package_available("matplotlib"), bool(RequirementCache("scipy")))
"""


@pytest.mark.turns
def test_a_training_imports_neither_figures_nor_dashboards_nor_datasets():
    assert python("-c", SCRIPT).stdout.splitlines() == ["[]", "True True"]
