"""matplotlib takes neither settings nor a backend out of a working folder.

A folder that appears (the canary) shows that planted code ran.
"""

import os
from pathlib import Path

import pytest

from extrap.utils.matplotlibrc import settle
from tests.faults import planted
from tests.support.program import python

pytestmark = pytest.mark.usefixtures("elsewhere")

JOB = ["task=[nll]", "task.nll.documents=4", "train.steps=1", "model.dim=16", "logger=none"]


@pytest.fixture
def canary(tmp_path):
    path = tmp_path / "canary"
    yield path
    assert not path.exists(), "planted code was run"


SETTINGS = {
    "garbage": "\x00 {[\n" * 9,
    "backend": "backend: module://theirs\n",
    "cycle": "axes.prop_cycle: cycler('color', [c for c in open('canary', 'w') and 'rgb'])\n",
}


def started(*words: str, **environment: str):
    done = python(*words, **{"MPLBACKEND": "module://theirs"} | environment)
    assert (done.returncode, "matplotlib" in done.stderr) == (0, False), done.stderr


@pytest.mark.turns
@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_of_the_folder_are_not_read(settings, canary):
    Path("theirs.py").write_text(planted.module(canary))
    Path("matplotlibrc").write_text(SETTINGS[settings])
    started("-m", "extrap", "plot", "--list", MPLBACKEND="no-such-backend")


@pytest.mark.turns
def test_a_pipe_is_not_waited_for():
    """Neither by a figure nor by a training, whose library of metrics imports matplotlib."""
    os.mkfifo("matplotlibrc")
    started("-m", "extrap", *JOB)
    started("-c", "from extrap import plot\nimport matplotlib")


@pytest.mark.turns
def test_a_backend_that_a_notebook_leaves_and_nobody_installed_is_left_out():
    """`extrap.plot` in a process that a notebook started, in an environment without the backend."""
    lines = ["import extrap", "import matplotlib.pyplot as plt", "plt.figure()"]
    for package in ("of_no_environment.backend_inline", ""):
        started("-c", "\n".join(lines), MPLBACKEND=f"module://{package}")


@pytest.mark.parametrize("date, kept", [("abc", False), ("9" * 30, False), ("86400", True)])
def test_a_malformed_date_of_figures_is_left_out(date, kept, monkeypatch):
    for name in ("MATPLOTLIBRC", "MPLBACKEND"):
        monkeypatch.setenv(name, "agg")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
    settle()
    assert (os.environ.get("SOURCE_DATE_EPOCH") == date) is kept
