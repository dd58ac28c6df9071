"""The wheel, installed elsewhere and run from an empty folder, is the whole program."""

import ast
import re
import shutil
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from tests.support.program import python

REPOSITORY = Path(__file__).parents[2]
PIP = ["-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the installed wheel and nothing else; needs no network."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-index", "--no-build-isolation", "-w", str(folder)]
    done = python(*PIP, "wheel", *options, str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    [wheel] = folder.glob("extrap-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"extrap/conf/config.yaml", "extrap/py.typed"} <= {*names}
    assert "extrap/cli/_plugins/hydra_plugins/extrap_local/launcher.py" in names
    assert not [name for name in names if name.startswith(("tests/", "conf/", "results/"))]
    options = ["--no-deps", "--no-index", "--target", str(folder / "site")]
    done = python(*PIP, "install", *options, str(wheel))
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_source_distribution_is_what_a_wheel_is_made_of(tmp_path):
    """A Makefile would ask for tests and benchmarks, which are in the clone alone."""
    [path] = SdistBuilder(str(REPOSITORY)).build(directory=str(tmp_path))
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    files = {name for name in build["targets"]["wheel"]["force-include"] if "." in name}
    assert {*files, "conf/config.yaml", "extrap/api.py", "constraints.txt", "LICENSE"} <= names
    assert "Makefile" not in names


@pytest.mark.parametrize("packed", [True, False])
def test_packed_items_of_the_baselines_travel_if_they_are_there(tmp_path, packed):
    wheel = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    forced = wheel["targets"]["wheel"]["force-include"]
    for name in (*forced, "extrap/__init__.py", *["results/reference/items.parquet"] * packed):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("") if "." in name else path.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, tmp_path)
    for builder, there in (
        (WheelBuilder, "extrap/baselines/reference/items.parquet"),
        (SdistBuilder, "results/reference/items.parquet"),
    ):
        found = {one.distribution_path for one in builder(str(tmp_path)).recurse_included_files()}
        assert "extrap/__init__.py" in found and (there in found) == packed
        assert sum(name.endswith("items.parquet") for name in found) == packed


def names(requirements: Iterable[str]) -> set[str]:
    """Distributions as pip compares their names."""
    bare = [re.match(r"[\w.-]+", one)[0] for one in requirements]
    return {name.lower().replace("_", "-") for name in bare}


def imported(path: Path) -> set[str]:
    """Top-level modules that a file imports, but for types alone."""
    tree = ast.parse(path.read_text())
    typed = "if TYPE_CHECKING:"
    tree.body = [one for one in tree.body if not ast.unparse(one).startswith(typed)]
    nodes = [*ast.walk(tree)]
    found = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    found += [n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level]
    return {name.partition(".")[0] for name in found}


def test_what_extrap_imports_is_declared():
    """A package that another one brings is gone with the next version of the other."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = {name: own for name, own in project["optional-dependencies"].items() if name != "dev"}
    declared = names([*project["dependencies"], *chain.from_iterable(extras.values())])
    found = set().union(*map(imported, (REPOSITORY / "extrap").rglob("*.py")))
    found -= {*sys.stdlib_module_names, "extrap", "hydra_plugins"}
    brings = packages_distributions()
    assert names(brings.get(module, [module])[0] for module in found) <= declared


def run(installed: Path, folder: Path, *words: str) -> str:
    # The installed copy stands before anything else on the import path; -P keeps the folder of
    # these tests off it.
    done = python("-P", *words, cwd=folder, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_extrap_composes_from_an_empty_folder(installed, tmp_path):
    assert "seed: 0\n" in run(installed, tmp_path, "-m", "extrap", "--cfg", "job")
    assert "hydra_plugins.extrap_local.launcher.LocalLauncher" in run(
        installed, tmp_path, "-m", "extrap", "--cfg", "hydra"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_installed_package_brings_baselines(installed, tmp_path):
    code = """
from extrap.results import rows
from extrap.utils.paths import baselines
for study in rows.studies(baselines()):
    print(study, rows.open_study(baselines(), study)["scheme"].nunique())
"""
    lines = run(installed, tmp_path, "-c", code).splitlines()
    assert [line.split()[0] for line in lines] == ["extension", "grid", "reference", "zoo"]
    assert all(int(line.split()[1]) > 1 for line in lines)


def test_console_script(installed, tmp_path):
    script = (installed / "bin" / "extrap").read_text(encoding="utf-8")
    assert "from extrap.cli.commands import main" in script
    program = str(installed / "bin" / "extrap")
    assert "Choices (group=option" in run(installed, tmp_path, program, "--help")
    assert "no study here yet" in run(installed, tmp_path, program, "status")
