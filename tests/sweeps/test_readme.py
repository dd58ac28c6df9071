"""The commands of the README about sweeps, W&B and figures: each is run, on jobs small enough for a test."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from extrap.cli import clean, app as cli, schema as config, plot, status, table
from extrap.__main__ import check, entry, finished, run
from extrap.runs.dashboard import WandB
from extrap.cli import dashboard as command
from tests.jobs import TINY

SECTIONS = ("Sweeps", "Compare schemes in W&B", "Redraw figures")

RUN = [
    "extrap -m scheme=rope,alibi study=mine",
    "extrap-status mine",
    "extrap-status",
    "extrap -m scheme=rope,alibi study=mine hydra.launcher.n_jobs=1 hydra.launcher.timeout_min=60",
    "extrap -m scheme=rope,alibi study=mine hydra/launcher=slurm hydra.launcher.partition=gpu hydra.launcher.account=me",
    "extrap -m scheme=rope,alibi study=mine logger.mode=online",
    "extrap-plot mine",
    "extrap-plot mine kv_depth loss_length",
    "extrap-table mine",
    "extrap-dashboard mine",
    "extrap-dashboard mine --online --workspace",
    "extrap-clean mine --runs --state failed",
]
"""In this order: the first makes the study, the other sweeps over it find nothing left to do."""

COMPOSED = [
    "extrap experiment=smoke",
    "extrap trainer=ddp trainer.devices=4 model=base",
    "extrap trainer=fsdp trainer.devices=8 model=base",
]
"""What takes a minute, or GPUs: up to the configuration."""

ELSEWHERE = ["wandb sync wandb/offline-run-*"]
"""What needs a server."""

PROGRAMS = {
    "extrap-status": status.main,
    "extrap-plot": plot.main,
    "extrap-table": table.main,
    "extrap-dashboard": command.main,
    "extrap-clean": clean.main,
}


def start(line: str, monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    name, *words = shlex.split(line)
    if name in PROGRAMS:
        return PROGRAMS[name](words)
    monkeypatch.setattr(sys, "argv", ["extrap", *words, *more])
    monkeypatch.setattr(sys, "path", list(sys.path))
    config.register()
    cli.main(cli.Program(run, check, finished, entry))


@pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning")  # of wandb_workspaces
def test_commands_run(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for variable, value in {"HYDRA_FULL_ERROR": "1", "OMP_NUM_THREADS": "1", "WANDB_MODE": "offline"}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(WandB, "draw", lambda *_: None)  # seconds for each page, and drawn by extrap-plot below
    said = {}
    for line in RUN:
        start(line, monkeypatch, TINY[1:] if "logger" in line else TINY)
        said[line] = capsys.readouterr()
    sweeps = [said[line].err.splitlines()[-1] for line in RUN if " -m " in line]
    assert [re.sub(r"in \d+:\d+", "in", line) for line in sweeps] == [
        "2 jobs in: 2 done, 0 skipped, 0 failed",
        *["2 jobs in: 0 done, 2 skipped, 0 failed"] * 3,
    ]
    assert said["extrap-status mine"].out.startswith("study mine: 2 jobs: 2 ")
    assert said["extrap-status"].out.startswith("mine  2 jobs: 2 ")
    assert len(said["extrap-plot mine kv_depth loss_length"].out.split()) == 4
    assert "going on offline" in said["extrap-dashboard mine --online --workspace"].err
    assert said["extrap-dashboard mine --online --workspace"].out.endswith("wandb/workspace-mine.json\n")
    assert said["extrap-clean mine --runs --state failed"].err == "extrap-clean: nothing to remove\n"


@pytest.mark.parametrize("line", COMPOSED)
def test_commands_compose(line: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    start(line, monkeypatch, ["--cfg", "job"])
    assert "scheme:" in capsys.readouterr().out


def test_the_readme_has_no_other_command() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text()
    known = {" ".join(shlex.split(line)) for line in (*RUN, *COMPOSED, *ELSEWHERE)}
    for section in SECTIONS:
        found = re.search(rf"^## {re.escape(section)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        for block in re.findall(r"^```\n(.*?)^```", found[1] if found else "", re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                assert " ".join(shlex.split(line, comments=True)) in known
