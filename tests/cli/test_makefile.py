"""`make study`: the commands that it runs, in order, for every committed study; `make demo`."""

import os
import subprocess
import tomllib
from pathlib import Path
from shutil import which

import pytest
import yaml

from extrap.cli import study
from extrap.results.places import has_rows, with_rows

ROOT = Path(__file__).parents[2]
RESULTS, CONF = ROOT / "results", ROOT / "conf" / "experiment"
WHOLE = sorted(folder.name for folder in RESULTS.iterdir() if has_rows(folder))

pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.skipif(which("make") is None, reason="make is not installed"),
]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    stamps = ["STAMP=LICENSE", "-o", "LICENSE"]  # never made, however old its date
    return subprocess.run(
        ["make", "-s", *words, *stamps],
        cwd=ROOT, capture_output=True, text=True, timeout=60, env=environment, check=True,
    )  # fmt: skip


@pytest.fixture
def made(monkeypatch):
    """study -> the command lines of `extrap study`."""
    monkeypatch.chdir(ROOT)
    return lambda name: [f"extrap {' '.join(words)}" for words in study.commands(name)]


def test_experiments_come_in_order_and_parts_after_the_whole(made):
    lines = made("extension")
    assert [line.split("=")[1] for line in lines if "experiment=" in line] == [
        "extension",
        "extension-options",
        "extension-tuned",
        "extension-autumn",
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
    lines = [line for name in WHOLE for line in made(name)]
    assert {line.split("=")[1] for line in lines if "experiment=" in line} == committed
    assert {line.split()[2] for line in lines if line.startswith("extrap table")} == names


def test_a_failed_command_ends_the_study(monkeypatch, capsys):
    assert "extrap study zoo" in make("-n", "study", "STUDY=zoo").stdout
    started = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(
        study.subprocess, "run", lambda words, check: started.append(words[4:]) or Failed
    )
    with pytest.raises(SystemExit, match="3"):
        study.main(["zoo"])
    assert started == [["experiment=zoo"]]
    study.main(["zoo", "--dry-run"])
    assert "+ extrap plot zoo who_learns" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        study.main(["nobody"])
    assert "STUDY=nobody: no experiment makes this study" in capsys.readouterr().err


def test_an_experiment_that_leaves_an_option_to_you_is_skipped(monkeypatch, capsys):
    started = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(
        study.subprocess, "run", lambda words, check: started.append(words[4:]) or Done
    )
    study.main(["grid"])
    assert ["experiment=grid"] in started and ["experiment=grid-text"] not in started
    assert ["table", "grid-text"] in started
    line = "grid-text is skipped; extrap experiment=grid-text data.corpus.path=... runs it"
    assert line in capsys.readouterr().err


class Done:
    returncode = 0


def test_checkpoints_of_others_get_what_reads_them():
    """A fresh clone has no transformers."""
    first, *_ = make("-n", "pretrained").stdout.splitlines()
    assert "-c constraints.txt" in first and first.endswith("-e '.[pretrained]'")


def test_a_study_gets_the_packages_whose_docstrings_are_the_text_of_prose():
    dry = make("-n", "study", "STUDY=prose", "DEV=none").stdout
    assert "-c constraints.txt -e '.[dev]'" in dry
    dev = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"tokenizers", "transformers"} <= {one.partition(">=")[0] for one in dev["dev"]}


class Failed:
    returncode = 3


def test_the_demo_draws_two_models_first_and_writes_where_git_ignores():
    lines = make("-n", "demo").stdout.splitlines()
    words = [line.partition("/extrap ")[2].split() for line in lines if "/extrap " in line]
    first, second = words[0], words[3]
    assert [line[1] if line[0] == "-m" else line[0] for line in words] == [
        "experiment=demo", "plot", "table",
        "experiment=demo", "plot", "table",
    ]  # fmt: skip
    assert (first[3:], second[2:]) == (["sweep.grid=null", "scheme=rope,alibi"], [])
    (name,) = {line[1] for line in words if line[0] in ("plot", "table")}
    assert f"study={name}" in first and f"study={name}" in second
    for path in f"results/{name}/rows/a.csv", f"runs/{name}":
        ignored = ["git", "check-ignore", "-q", path]
        assert subprocess.run(ignored, cwd=ROOT, check=False).returncode == 0
    assert not (CONF / f"{name}.yaml").exists()
