"""`make study`: the commands that it runs, in order, for every committed study; `make demo`."""

import os
import re
import subprocess
from pathlib import Path
from shutil import which

import pytest
import yaml

from extrap.results.places import with_rows

ROOT = Path(__file__).parents[2]
RESULTS, CONF = ROOT / "results", ROOT / "conf" / "experiment"
WHOLE = sorted(path.parent.name for path in RESULTS.glob("*/rows"))

pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.skipif(which("make") is None, reason="make is not installed"),
]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    stamps = ["STAMP=Makefile", "-o", "Makefile"]  # never made, however old its date
    return subprocess.run(
        ["make", "-s", *words, *stamps],
        cwd=ROOT, capture_output=True, text=True, timeout=60, env=environment, check=True,
    )  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """study -> the command lines of `make study`, run by a program that does nothing."""
    (tmp_path / "extrap").write_text("#!/bin/sh\n")
    (tmp_path / "extrap").chmod(0o755)

    def run(study: str) -> list[str]:
        done = make("study", f"STUDY={study}", f"BIN={tmp_path}")
        return re.findall(rf"^\+ {tmp_path}/(.*)$", done.stderr, re.MULTILINE)

    return run


def test_experiments_come_in_order_and_parts_after_the_whole(made):
    lines = made("extension")
    assert [line.split("=")[1] for line in lines if "experiment=" in line] == [
        "extension",
        "extension-options",
        "extension-tuned",
        "extension-biases",
        "extension-density",
    ]
    assert "extrap plot extension-density density" in lines
    assert lines[-1] == "extrap findings extension-density"


def test_every_committed_study_is_made(made):
    names = {folder.name for folder in with_rows(RESULTS)}
    committed = {
        path.relative_to(CONF).with_suffix("").as_posix()
        for path in CONF.rglob("*.yaml")
        if yaml.safe_load(path.read_text())["study"] in names
    }
    lines = [line for study in WHOLE for line in made(study)]
    assert {line.split("=")[1] for line in lines if "experiment=" in line} == committed
    assert {line.split()[2] for line in lines if line.startswith("extrap table")} == names


def test_the_demo_draws_two_models_first_and_writes_where_git_ignores():
    lines = make("-n", "demo").stdout.splitlines()
    words = [line.partition("/extrap ")[2].split() for line in lines if "/extrap " in line]
    first, second = words[0], words[3]
    assert [line[1] if line[0] == "-m" else line[0] for line in words] == [
        "experiment=demo", "plot", "table",
        "experiment=demo", "plot", "table",
    ]  # fmt: skip
    assert (first[3:], second[2:]) == (["sweep.grid=null", "scheme=rope,alibi"], [])
    (study,) = {line[1] for line in words if line[0] in ("plot", "table")}
    assert f"study={study}" in first and f"study={study}" in second
    for path in f"results/{study}/rows/a.csv", f"runs/{study}":
        ignored = ["git", "check-ignore", "-q", path]
        assert subprocess.run(ignored, cwd=ROOT, check=False).returncode == 0
    assert not (CONF / f"{study}.yaml").exists()
