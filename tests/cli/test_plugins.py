"""A package of one's own: a scheme, an extension and a task are 1 py and 1 yaml each, a figure 1
py, found by sweeps, tables, figures and contracts under the names of their files.
"""

import os
import warnings
from pathlib import Path

import pytest

import extrap
from extrap import figures
from extrap.cli import audit, plot, report, schemes
from extrap.results.rows import frame, write
from extrap.results.schema import ROWS
from extrap.runs.experiment import Experiment, closing
from extrap.runs.study import Entry
from extrap.runs.train import train
from extrap.tasks.base import Result
from extrap.tasks.scoring.checked import checked
from extrap.utils.errors import UserError
from tests.support.jobs import TINY, job
from tests.support.killed import killed
from tests.support.plausible import run_rows
from tests.support.program import python

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "support" / "plugin"


@pytest.mark.turns
def test_swept_over(mine):
    words = ["--config-dir", "my_conf", "-m", "plugins=[my_package]", "study=own", "seed=0"]
    words += [
        "scheme=tilt",
        "extension=direct,level",
        "task=[induction]",
        "task.induction.multiples=[1,2]",
        "threads=1",
    ]
    words += [word for word in TINY if not word.startswith("task.")]
    done = python("-P", "-m", "extrap", *words)
    assert done.returncode == 0, done.stderr
    names = {path.stem.split("__", 1)[1] for path in Path("results/own/rows").glob("*.csv")}
    assert names == {"direct__induction", "direct__train", "level__induction", "level__used"}
    rows = frame(ROWS.records(Path("results/own/rows").glob("*__induction.csv")))
    assert set(rows["scheme"]) == {"tilt"}
    assert set(rows["extension"]) == {"direct", "level"}
    assert set(rows["metric"]) == {"accuracy", "loss", "gate"}
    assert set(rows["status"]) == {"not trained"}, "eight steps teach nothing"
    loss = rows[rows["metric"] == "loss"]
    assert loss.groupby("length")["value"].nunique().tolist() == [1, 2], "level past L alone"


@pytest.mark.turns
def test_rows_of_older_code_are_told(mine):
    words = ["--config-dir", "my_conf", "plugins=[my_package]", "study=own", "scheme=tilt"]
    words += ["task=[induction]", "task.induction.multiples=[1]"]
    words += [word for word in TINY if not word.startswith("task.")]
    assert python("-P", "-m", "extrap", *words).returncode == 0
    assert "newer" not in python("-P", "-m", "extrap", *words).stderr
    Path("my_package/tilt.py").touch()
    done = python("-P", "-m", "extrap", *words)
    line = "/my_package/tilt.py is newer than runs and rows here, which stay as they are; "
    assert f"{line}`extrap clean own --runs --rows` removes them\n" in done.stderr
    assert ": nothing left to do\n" in done.stderr


def test_weights_and_checkpoints_of_older_code_are_told(mine, monkeypatch):
    """Also while rows are left to do; a class that made none of the files is no reason."""
    words = ["hydra.searchpath=[file://my_conf]", "plugins=[my_package]", "scheme=tilt"]
    this = job(*words, "extension=level")
    with killed(monkeypatch, 5):
        train(this)

    def told() -> list[str]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert not Experiment(this, "extrap").finished()
        return [Path(str(one.message).partition(" is newer than ")[0]).name for one in said]

    for made in (this.run.checkpoint, this.run.weights):
        assert made.exists() and told() == []
        os.utime("my_package/tilt.py", (2e9, 2e9))
        os.utime("my_package/level.py", (2e9, 2e9))
        assert told() == ["tilt.py"]
        with pytest.warns(UserWarning, match=r"tilt\.py is newer than runs and rows here"):
            run = extrap.train(*words, *TINY)
        with pytest.warns(UserWarning, match=r"tilt\.py is newer than runs and rows here"):
            extrap.evaluate(run, "task.nll.documents=4", tasks="nll", multiples=[1])
        os.utime("my_package/tilt.py", (0, 0))


def test_contributing_shows_these_files():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    files = [file for file in EXAMPLE.rglob("*.[py]*") if file.suffix in (".py", ".yaml")]
    for file in files:
        language = {".py": "python", ".yaml": "yaml"}[file.suffix]
        shown = f"```{language}\n{file.read_text()}```"
        assert file.name == "__init__.py" or shown in text, file


def test_a_row_without_a_status_is_ok():
    (row,) = checked(Result([{"metric": "accuracy", "value": 1.0}]), "mine").rows
    assert row == {"metric": "accuracy", "value": 1.0, "status": "ok"}


def test_in_the_tables(mine, capsys):
    words = ["--config-dir", "my_conf", "--plugins", "my_package"]
    schemes.main(words)
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[:4] == ["tilt", "relative", "bias", "of"]
    schemes.main([*words, "--write"])
    written = [Path(line).read_text() for line in capsys.readouterr().out.splitlines()]
    assert [text.splitlines()[3].split(" | ")[0] for text in written] == [
        "| [tilt](tilt.yaml)",
        "| [level](level.yaml)",
        "| [induction](induction.yaml)",
    ]
    assert "The tilt ends at the training length | `reach=1.0`" in written[1]
    assert "a pair `a b` stands once in random letters" in written[2]
    schemes.main([*words, "--write"])
    again = [Path(line).read_text() for line in capsys.readouterr().out.splitlines()]
    assert again == written
    audit.main([*words, "tilt"])
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["tilt", "64", "always"]


def test_an_idea_of_ones_own_has_no_source(mine):
    tilt, words = Path("my_package/tilt.py"), ["--config-dir", "my_conf", "--plugins", "my_package"]
    lines = tilt.read_text().replace(" arXiv 2108.12409.", "").splitlines(keepends=True)
    tilt.write_text("".join(line for line in lines if "Source:" not in line))
    schemes.main([*words, "--write"])
    assert Path("my_conf/scheme/README.md").read_text().splitlines()[3].endswith(" | - |")


@pytest.mark.turns
def test_in_the_figures(mine, capsys):
    write(mine / "results" / "own" / "rows" / "a.csv", run_rows("rope"))
    plot.main(["own", "plain_loss", "--plugins", "my_package"])
    assert capsys.readouterr().out.split() == [
        f"results/own/figures/plain_loss.{kind}" for kind in figures.KINDS
    ]
    plot.main(["--list", "--plugins", "my_package"])
    listed = capsys.readouterr().out
    assert "Loss in one window against its length." in listed
    report.main(["own", "--plugins", "my_package"])
    assert 'id="figure-plain_loss"' in Path("results/own/report.html").read_text()
    with pytest.raises(SystemExit, match="2"):
        plot.main(["own", "plain_loss"])
    said, own = capsys.readouterr().err, "; a figure of your own needs"
    assert "FIGURE=plain_loss: no such figure" in said
    assert said.endswith(f"{own} --plugins my_package\n")
    with pytest.raises(UserError, match=f'{own} plugins=\\["my_package"\\]$'):
        extrap.plot(extrap.rows("own"), "plain_loss")
    with pytest.raises(SystemExit, match="2"):
        plot.main(["own", "plane_loss", "--plugins", "my_package"])
    assert own not in capsys.readouterr().err


def test_in_python(mine):
    words = ["hydra.searchpath=[file://my_conf]", "plugins=[my_package]", "scheme=tilt"]
    run = extrap.train(*words, *[word for word in TINY if not word.startswith("task.")])
    rows = extrap.evaluate(run, "task.nll.documents=4", tasks="nll", multiples=[1, 2])
    assert extrap.plot(rows, "plain_loss", plugins=["my_package"]).axes


def test_an_option_of_an_extension_may_be_a_mapping(mine):
    level = Path("my_package/level.py").read_text()
    own = level.replace("reach: float = 1.0", "weights: dict[str, float], reach: float = 1.0")
    Path("my_package/weighed.py").write_text(own)
    node = "_target_: my_package.weighed.Level\nweights: {near: 1.0, far: 0.5}\nreach: 1.0\n"
    Path("my_conf/extension/weighed.yaml").write_text(node)
    words = ["hydra.searchpath=[file://my_conf]", "plugins=[my_package]", "scheme=tilt"]
    this = job(*words, "extension=weighed")
    assert this.extension_stem == "weighed,weights.near=1,weights.far=0.5"


def test_the_command_that_draws_names_the_plug_ins():
    entry = Entry("own", "tilt-0-s0", "direct", {"nll": "0"})
    assert closing(entry)[1] == "figures: extrap plot own"
    assert closing(entry, plugins=["a", "b"])[1] == "figures: extrap plot own --plugins a,b"


@pytest.mark.turns
def test_under_contract(mine):
    """All of it holds, and it is found: one check that each of the four would be missed in."""
    files = ["schemes", "extensions", "tasks", "figures", "hints"]
    words = [str(ROOT / "tests" / "contracts" / f"test_{name}.py") for name in files]
    words += ["--config-dir", "my_conf", "--plug-in", "my_package"]
    words += ["-k", "tilt or level or induction or plain_loss", "-p", "no:cacheprovider", "-v"]
    done = python("-P", "-m", "pytest", "--rootdir", str(ROOT), *words, PYTHONPATH=f"{ROOT}:{mine}")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    for test in (
        "test_causality[tilt]",
        "test_outside_it_is_finite_and_different[level]",
        "test_options_are_bounded_in_the_signature[induction]",
        "test_missing_rows_are_no_figure[plain_loss]",
    ):
        assert f"{test} PASSED" in done.stdout
