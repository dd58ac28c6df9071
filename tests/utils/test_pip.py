"""What a message tells a person to install: on PyPI the name extrap belongs to another program."""

import shlex
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from extrap.utils import pip
from extrap.utils.pip import install_extra

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_remedy_names_the_packages_of_an_extra_with_their_bounds(extra):
    python, *words = shlex.split(line := install_extra(extra))
    assert (python, words[:3]) == (sys.executable, ["-m", "pip", "install"]) and "\n" not in line
    assert all(">=" in word for word in words[3:])
    names = {word.partition(">=")[0].partition("<")[0] for word in words[3:]}
    assert names == {word.partition(">=")[0] for word in EXTRAS[extra]}


def test_a_source_tree_that_is_not_installed_names_the_extra(monkeypatch):
    def unknown(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(pip, "requires", unknown)
    assert install_extra("slurm").endswith("pip install '.[slurm]'")


def test_no_page_and_no_message_installs_the_other_program():
    suffixes = {".py", ".md", ".yaml", ".ipynb", ".sh", ".html"}
    folders = [ROOT / name for name in ("extrap", "conf", "examples", "benchmarks", "tests")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    texts = {path: path.read_text() for path in [*files, *ROOT.glob("*.md"), ROOT / "Makefile"]}
    words = ("install " + "extrap", "'" + "extrap[")  # in two, for this file is read, too
    found = [path for path, text in texts.items() if any(word in text for word in words)]
    assert found == [ROOT / "extrap" / "utils" / "pip.py"]
