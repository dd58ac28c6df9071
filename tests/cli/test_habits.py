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
    ("words", "line"),
    [
        (["train.lr=0.5", "--cfg", "job"], "  lr: 0.5"),
        (["++train.lr=0.5", "--cfg", "job"], "  lr: 0.5"),
        (["+scheme.mine=3", "--cfg", "job"], "  mine: 3"),
        (["finetune=full", "data@finetune.data=text", "--cfg", "job"], "    length: 64"),
        (["data/corpus=files", "data.corpus.path=a", "--cfg", "job"], "    path: a"),
        (["hydra.launcher.n_jobs=3", "--cfg", "hydra"], "    n_jobs: 3"),
        (["hydra/launcher=slurm", "hydra.launcher.partition=a", "--cfg", "hydra"], "partition: a"),
        (["hydra.launcher.n_jobs=5", "--package", "hydra.launcher", "--cfg", "hydra"], "n_jobs: 5"),
        (
            ["hydra.sweep.dir=runs/${now:%Y}", "hydra.verbose=true", "--cfg", "hydra"],
            "verbose: true",
        ),
        (["--info", "defaults"], "| scheme/rope "),
        (["--info", "defaults-tree"], "scheme: rope"),
        (["--info", "config"], "\n  project: extrap\n"),
        (["--info", "plugins"], "LocalLauncher"),
        (["--info", "searchpath"], "| main "),
    ],
)
def test_words_of_the_command_line(words, line, monkeypatch, capsys):
    assert line in shown(monkeypatch, capsys, *words)


def test_choices_of_a_folder_of_ones_own_and_an_option_that_goes(tmp_path, monkeypatch, capsys):
    (tmp_path / "scheme").mkdir()
    (tmp_path / "scheme/mine.yaml").write_text("_target_: extrap.schemes.rope.RoPE\nbase: 7\n")
    words = ["--config-dir", str(tmp_path), "scheme=mine", "~task.kv", "--cfg", "job"]
    node = yaml.safe_load(shown(monkeypatch, capsys, *words))
    assert node["scheme"]["base"] == 7 and list(node["task"]) == ["nll"]
