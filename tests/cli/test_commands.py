"""What commands share: help, flags, the words of Hydra, and the tables of conf."""

import importlib
import re
import shlex
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import extrap
from extrap.audit import catalogue
from extrap.cli import listed, reference, schemes
from extrap.cli.commands import COMMANDS, module
from extrap.utils import markdown
from extrap.utils.paths import conf_dir
from tests.support.exceptions import WITHOUT_SOURCE
from tests.support.program import typed

SMALL = sorted(COMMANDS)


@pytest.mark.parametrize("name", SMALL)
def test_help_says_what_it_does_and_how_it_ends(name, capsys):
    command = importlib.import_module(module(name))
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(f"usage: extrap {name} ") and "Exit codes: 0 done; 2 a mistake" in shown


def test_options_may_stand_between_names(capsys):
    for name, words in {
        "plot": ["mine", "--width", "3.3in", "kv_depth"],
        "clean": ["mine", "--runs", "rope-1-s0"],
        "compare": ["mine", "--cell", "kv", "rope", "alibi"],
    }.items():
        command = importlib.import_module(module(name))
        with pytest.raises(SystemExit, match="2"):
            command.main(words)
        assert "STUDY=mine: no such study" in capsys.readouterr().err


def test_a_run_is_optional(capsys):
    command = importlib.import_module("extrap.cli.clean")
    with pytest.raises(SystemExit, match="2"):
        command.main(["--runs"])
    assert "required: STUDY; see extrap clean --help\n" in capsys.readouterr().err


def shown(monkeypatch: pytest.MonkeyPatch, capsys, *words: str) -> str:
    typed(monkeypatch, *words)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train.lr=0.5", "--cfg", "job"], "  lr: 0.5"),
        (["+scheme.mine=3", "--cfg", "job"], "  mine: 3"),
        (["finetune=full", "data@finetune.data=text", "--cfg", "job"], "    length: 64"),
        (["data/corpus=files", "data.corpus.path=a", "--cfg", "job"], "    path: a"),
        (["hydra/launcher=slurm", "hydra.launcher.partition=a", "--cfg", "hydra"], "partition: a"),
        (["hydra.launcher.n_jobs=5", "--package", "hydra.launcher", "--cfg", "hydra"], "n_jobs: 5"),
        (
            ["hydra.sweep.dir=runs/${now:%Y}", "hydra.verbose=true", "--cfg", "hydra"],
            "verbose: true",
        ),
        (["--info", "plugins"], "LocalLauncher"),
    ],
)
def test_words_of_the_command_line(words, line, monkeypatch, capsys):
    assert line in shown(monkeypatch, capsys, *words)


def test_the_version_is_that_of_extrap(monkeypatch, capsys):
    with pytest.raises(SystemExit, match="0"):
        typed(monkeypatch, "--version")
    assert capsys.readouterr().out == f"extrap {version('extrap')}\n"


@pytest.mark.parametrize("words", [[], ["install=tcsh"], ["scheme=rope"], ["install=bash", "x=1"]])
def test_completion_of_another_shell_is_one_line(words, monkeypatch, capsys):
    with pytest.raises(SystemExit, match="2"):
        typed(monkeypatch, "-sc", *words)
    assert "-sc=" in (said := capsys.readouterr().err) and said.count("\n") == 1


def test_python_reads_the_version_too():
    assert extrap.__version__ == version("extrap")


def test_unreleased_changes_have_a_version_that_no_release_has():
    root = Path(extrap.__file__).parents[1]
    own = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    sections = re.findall(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert own.endswith(".dev0") if sections[0] == "Unreleased" else own == sections[0]
    assert own not in sections[1:]


def test_the_jobs_of_a_sweep_are_listed_and_none_is_run(monkeypatch, capsys, elsewhere):
    said = shown(monkeypatch, capsys, "-m", "scheme=rope,alibi", "seed=0,1", "--cfg", "job")
    assert said.splitlines() == [
        f"extrap scheme={scheme} seed={seed}" for scheme in ("rope", "alibi") for seed in (0, 1)
    ]
    assert [path.name for path in elsewhere.rglob("*")] == ["runs"]


def test_the_listed_jobs_of_ones_own_folder_run_as_printed(monkeypatch, capsys, mine):
    words = ["--config-dir", "my_conf", "plugins=[my_package]", "scheme=tilt", "seed=0,1"]
    said = shown(monkeypatch, capsys, "-m", *words, "--cfg", "job")
    jobs = [shlex.split(line)[1:] for line in said.splitlines()]
    assert [job[:2] for job in jobs] == [["--config-dir", str(mine / "my_conf")]] * 2
    runs = [listed.listed(job).run for job in jobs]
    assert [re.sub("-[^-]+-", "-", run) for run in runs] == ["tilt-s0", "tilt-s1"]


@pytest.mark.parametrize("group", catalogue.ROWS)
def test_the_readmes_have_not_drifted(group):
    text = (Path(conf_dir()) / group / "README.md").read_text()
    table = catalogue.page(catalogue.table(group))
    assert markdown.between(text, group, table) == text, "run `make tables`"


def test_the_reference_has_not_drifted_and_explains_every_option():
    text = (Path(conf_dir()) / reference.PAGE_NAME).read_text()
    assert reference.page(text) == text, "run `make tables`"
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line for line in lines if line.endswith("|  |")] == []
    found = {group for group in reference.GROUPS if f"\n## {group}\n" in text}
    assert found == {*reference.GROUPS} and "None" not in text
    assert "| `train.steps` | `1500` | a whole number of at least 1 |" in text
    assert "| `layers` | `not every 4`, " in text and "`[0,0.5,1]`" in text


@pytest.mark.parametrize("group", catalogue.ROWS)
def test_everything_is_listed(group):
    frame = catalogue.table(group)
    assert sorted(frame[group]) == sorted(p.stem for p in (Path(conf_dir()) / group).glob("*.yaml"))
    assert (frame.map(len) > 0).all(axis=None) and not frame.map(lambda cell: "\n" in cell).any(
        axis=None
    )


def test_schemes_and_extensions_of_extrap_name_their_sources():
    tables = {group: catalogue.table(group) for group in ("scheme", "extension")}
    lacking = {n for g, table in tables.items() for n in table[table["source"] == "-"][g]}
    assert lacking == {*WITHOUT_SOURCE}


def test_a_folder_without_groups_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        schemes.main(["--write", "--config-dir", str(tmp_path)])
    assert f"--config-dir={tmp_path}: no YAML in its folders" in capsys.readouterr().err


@pytest.mark.parametrize("group", catalogue.ROWS)
def test_a_file_without_a_class_is_a_choice_of_others_or_a_mistake(group, tmp_path, capsys):
    path = tmp_path / group / "mine.yaml"
    path.parent.mkdir()
    path.write_text("# @package _global_\n# Both of mine\ndefaults:\n  - one\n  - _self_\n")
    schemes.main(["--write", "--config-dir", str(tmp_path)])
    (line,) = path.with_name("README.md").read_text().splitlines()[3:4]
    assert line.startswith("| [mine](mine.yaml) | ") and line.endswith(" | - |")
    assert ("| Both of mine |" in line) == (group != "scheme")
    path.write_text("")
    with pytest.raises(SystemExit, match="2"):
        schemes.main(["--write", "--config-dir", str(tmp_path)])
    assert f"{path}: names no class; give it as _target_" in capsys.readouterr().err
