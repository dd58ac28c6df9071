"""A package of one's own in the working folder."""

import sys
from pathlib import Path
from shutil import copytree

import pytest

PLUGIN = Path(__file__).parents[1] / "support" / "plugin"


@pytest.fixture
def mine(elsewhere, monkeypatch):
    """A working folder with the package and its configuration files."""
    copytree(PLUGIN, elsewhere, dirs_exist_ok=True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield elsewhere
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]
