"""Classes that configurations name have names of their own, because a run is known by them and not
by their modules.
"""

from collections import defaultdict
from importlib import import_module
from pkgutil import walk_packages

import extrap

PACKAGES = ("schemes", "extensions", "tasks", "data", "model", "runs.training", "runs.dashboard")


def test_no_two_classes_share_a_name() -> None:
    found = defaultdict(set)
    for package in PACKAGES:
        root = import_module(f"extrap.{package}")
        for module in walk_packages(root.__path__, f"{root.__name__}."):
            for name, value in vars(import_module(module.name)).items():
                if isinstance(value, type) and value.__module__.startswith(extrap.__name__):
                    found[name].add(value.__module__)
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}
