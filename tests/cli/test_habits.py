"""Hydra's own words do what its users know: `--cfg`, `--info`, `--config-dir`, `+`, `++`, `~`, `@`
and launchers. Sweeps (-m): tests/cli/test_sweep.py; on a cluster: tests/cli/test_slurm.py.
"""

import sys

import pytest
import yaml

from extrap.cli.commands import main


def shown(monkeypatch: pytest.MonkeyPatch, capsys, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["extrap", *words])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    main()
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "path", "value"),
    [
        (["train.lr=0.5"], "train.lr", 0.5),
        (["++train.lr=0.5"], "train.lr", 0.5),
        (["+scheme.mine=3"], "scheme.mine", 3),
        (["task=[nll,kv]", "~task.kv"], "task.kv", None),
        (["finetune=full", "data@finetune.data=text"], "finetune.data.length", 64),
        (["data/corpus=files", "data.corpus.path=a"], "data.corpus.path", "a"),
    ],
)
def test_words_of_the_command_line(words, path, value, monkeypatch, capsys):
    node = yaml.safe_load(shown(monkeypatch, capsys, *words, "--cfg", "job"))
    for name in path.split("."):
        node = node.get(name) if node else None
    assert node == value


def test_choices_of_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "scheme").mkdir()
    (tmp_path / "scheme/mine.yaml").write_text("_target_: extrap.schemes.rope.RoPE\nbase: 7\n")
    words = ["--config-dir", str(tmp_path), "scheme=mine", "--cfg", "job"]
    assert yaml.safe_load(shown(monkeypatch, capsys, *words))["scheme"]["base"] == 7


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["hydra.launcher.n_jobs=3"], "n_jobs: 3"),
        (["hydra/launcher=slurm", "hydra.launcher.partition=gpu"], "partition: gpu"),
        (["hydra.launcher.n_jobs=5", "--package", "hydra.launcher"], "n_jobs: 5"),
        (["hydra.sweep.dir=runs/${now:%Y}", "hydra.verbose=true"], "verbose: true"),
    ],
)
def test_launchers(words, line, monkeypatch, capsys):
    assert f"{line}\n" in shown(monkeypatch, capsys, *words, "--cfg", "hydra")


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("defaults", "| scheme/rope "),
        ("defaults-tree", "scheme: rope"),
        ("config", "\n  project: extrap\n"),
        ("plugins", "LocalLauncher"),
        ("searchpath", "| main "),
    ],
)
def test_information(what, line, monkeypatch, capsys):
    assert line in shown(monkeypatch, capsys, "--info", what)
