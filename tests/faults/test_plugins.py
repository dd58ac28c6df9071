"""A plug-in opens the working folder for itself alone: no other module there is imported, neither
in place of an optional package that is not installed nor in place of an installed one.

A folder that appears (the canary) shows that planted code ran.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from extrap.utils.errors import UserError
from extrap.utils.plugins import check_plugins, imported
from tests.faults import planted
from tests.support.program import python

pytestmark = pytest.mark.usefixtures("elsewhere")

JOB = ["plugins=[mine]", "task=[nll]", "task.nll.documents=4", "train.steps=1", "model.dim=16"]
OPTIONAL = ("triton", "peft", "trackio", "tensorboardX", "kernels", "bitsandbytes", "IPython")
LISTED = """
import sys
from extrap.cli.commands import main
missing = set()
class Asked:
    def find_spec(self, name, path=None, target=None):
        if path is None:
            missing.add(name)
sys.meta_path.append(Asked())
main()
print(*sorted(missing))
"""
"""The program, and the modules that were looked for and not found in any library."""


@pytest.mark.turns
def test_optional_modules_of_the_folder_are_not_imported(tmp_path):
    """All names that a job looks for in vain, and some that others look for."""
    Path("mine.py").write_text("")
    first = python("-P", "-c", LISTED, *JOB)
    assert first.returncode == 0, first.stderr
    asked = {*first.stdout.splitlines()[-1].split(), *OPTIONAL} - {"mine"}
    assert len(asked) > len(OPTIONAL), "a job looks for optional modules"
    canary = tmp_path / "canary"
    for name in asked:
        Path(f"{name}.py").write_text(planted.module(canary))
    done = python("-P", "-m", "extrap", *JOB, "seed=1")
    assert done.returncode == 0, done.stderr
    assert not canary.exists(), "planted code was run"


def test_a_plug_in_is_found_where_it_was_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for folder in ("a", "b"):
        Path(folder, "own_package").mkdir(parents=True)
        Path(folder, "own_package/__init__.py").write_text("")
        Path(folder, "helper.py").write_text("")
        monkeypatch.chdir(tmp_path / folder)
        check_plugins(["own_package"])
        assert find_spec("own_package").origin == f"{tmp_path}/{folder}/own_package/__init__.py"
        monkeypatch.chdir(tmp_path)
    assert find_spec("helper") is None and str(tmp_path / "a") not in sys.path


def test_a_notebook_is_no_package(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    with pytest.raises(UserError, match=r"^plugins=__main__: .*; write it into a file, such as"):
        check_plugins(["__main__"])


def test_a_module_that_a_plug_in_imports_is_named_too(monkeypatch):
    Path("lone_plugin.py").write_text("import lone_helper\n")
    Path("lone_helper.py").write_text("")
    with pytest.raises(UserError, match=r"lone_helper'; name lone_helper, which lies in the"):
        imported(*check_plugins(["lone_plugin"]), option="plugins")
    assert imported(check_plugins(["lone_plugin", "lone_helper"])[0], "plugins") is not None
