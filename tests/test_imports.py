"""A reader of one file need not read the model, the checkpoints of others or the command line."""

import json
from pathlib import Path

import pytest

from tests.support.program import python

BELOW = ["extrap.runs", "extrap.cli", "extrap.figures", "extrap.pretrained"]
NEVER = {
    "extrap.schemes.alibi": ["extrap.data", "extrap.results", "extrap.model.gpt", *BELOW],
    "extrap.tasks.kv": ["extrap.model", "extrap.data.corpora", "extrap.results.rows", *BELOW],
    "extrap.extensions.longrope_search": ["extrap.data", "extrap.results", *BELOW],
    "extrap.runs.job": ["extrap.pretrained", "extrap.results.rows", "extrap.cli"],
    "extrap.runs.experiment": ["extrap.pretrained", "extrap.cli"],
}
"""Packages and modules that these modules must not load."""
MOST = {"extrap.tasks.kv": (25, 2600), "extrap.runs.job": (70, 8000)}
"""Files and lines of extrap that importing a module may load. If a change needs more, look first
for an import that serves a type alone, or one function.
"""
ROOT = Path(__file__).resolve().parents[1]

SCRIPT = f"""
import json, sys
from importlib import import_module
found = {{}}
for name in {list(NEVER)}:
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == "extrap"]:
        del sys.modules[loaded]
    import_module(name)
    found[name] = [loaded for loaded in sys.modules if loaded.startswith("extrap.")]
from extrap.cli.program import job
from extrap.cli.composed import composed
job(composed(["scheme=rope"]))
found["scheme=rope"] = [loaded for loaded in sys.modules if loaded.startswith("extrap.")]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> dict[str, list[str]]:
    done = python("-c", SCRIPT, cwd=tmp_path_factory.mktemp("imports"))
    return json.loads(done.stdout)


@pytest.mark.subprocess
@pytest.mark.parametrize("name", NEVER)
def test_a_module_loads_nothing_of_these(loaded, name):
    found = {one for one in loaded[name] for no in NEVER[name] if f"{one}.".startswith(f"{no}.")}
    assert name in loaded[name] and not found


@pytest.mark.subprocess
@pytest.mark.parametrize("name", MOST)
def test_a_module_loads_few_files_and_lines(loaded, name):
    lines = []
    for one in {"extrap", *loaded[name]}:
        path = ROOT / one.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        lines.append(len(file.read_text().splitlines()))
    files, most = MOST[name]
    assert len(lines) <= files and sum(lines) <= most, f"{len(lines)} files, {sum(lines)} lines"


@pytest.mark.subprocess
def test_a_job_of_a_scheme_loads_no_published_checkpoints(loaded):
    assert "extrap.runs.job" in loaded["scheme=rope"]
    assert not [one for one in loaded["scheme=rope"] if one.startswith("extrap.pretrained")]
