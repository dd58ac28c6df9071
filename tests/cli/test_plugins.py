"""A package of one's own: a scheme, an extension and a task are 1 py and 1 yaml each, a figure 1
py, found by sweeps, tables, figures and contracts under the names of their files.
"""

import copy
import errno
import re
import sys
from pathlib import Path
from shutil import copytree

import pytest

import extrap
from extrap import figures
from extrap.cli import audit, plot, report, schemes
from extrap.extensions.base import Extension
from extrap.results.rows import frame, records, write
from extrap.runs import validate
from extrap.runs.build import find
from extrap.runs.experiment import closing
from extrap.runs.study import Entry
from extrap.tasks.base import Result, Task, checked
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.errors import UserError
from extrap.utils.plugins import told
from tests.support.jobs import TINY, job
from tests.support.plausible import run_rows
from tests.support.program import python, typed

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "support" / "plugin"


@pytest.fixture
def mine(elsewhere, monkeypatch):
    """A working folder with the package and its configuration files."""
    copytree(EXAMPLE, elsewhere, dirs_exist_ok=True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield elsewhere
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *words: str) -> str:
    """Returns the last line on stderr of `extrap <words>`, a mistake, in this process."""
    with pytest.raises(SystemExit, match="2"):
        typed(monkeypatch, *words)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.splitlines()[-1]


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
    rows = frame(records(Path("results/own/rows").glob("*__induction.csv")))
    assert set(rows["scheme"]) == {"tilt"}
    assert set(rows["extension"]) == {"direct", "level"}
    assert set(rows["metric"]) == {"accuracy", "loss", "gate"}
    assert set(rows["status"]) == {"not trained"}, "eight steps teach nothing"
    loss = rows[rows["metric"] == "loss"]
    assert loss.groupby("length")["value"].nunique().tolist() == [1, 2], "level past L alone"


def test_contributing_shows_these_files():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    files = [file for file in EXAMPLE.rglob("*.[py]*") if file.suffix in (".py", ".yaml")]
    for file in files:
        language = {".py": "python", ".yaml": "yaml"}[file.suffix]
        shown = f"```{language}\n{file.read_text()}```"
        assert file.name == "__init__.py" or shown in text, file


MISTAKES = {
    "no package line": (
        "my_conf/task/induction.yaml",
        ("# @package task.induction\n", ""),
        "task=induction: its file puts its options at task; write `# @package task.induction` in "
        "its first line",
    ),
    "another name in the package line": (
        "my_conf/task/induction.yaml",
        ("# @package task.induction\n", "# @package task.deduction\n"),
        "task=induction: its file puts its options at task.deduction; write `# @package "
        "task.induction` in its first line",
    ),
    "a list without items": (
        "my_package/induction.py",
        ("multiples: Multiples", "multiples: tuple"),
        "task.induction.multiples=[1, 2]: expected a list; its annotation must name the items, as "
        "Sequence[float] or extrap.Multiples",
    ),
    "a task that fails": (
        "my_package/induction.py",
        ("log_p.argmax(-1)", "log_p[:, 7, 7]"),
        "my_package/induction.py, line 37: too many indices for array: array is 2-dimensional, but "
        "3 were indexed",
    ),
}


def test_a_class_without_a_method_of_its_base_names_it(mine):
    sys.path.append(str(mine))
    Path("my_package/bare.py").write_text(
        "from extrap import Extension, Task\nclass Bare(Task): ...\nclass Still(Extension): ...\n"
    )
    for name, kind, lacking in (("Bare", Task, "check and run"), ("Still", Extension, "__call__")):
        with pytest.raises(UserError, match=rf"{name}: does not define {lacking}; define it"):
            find(f"my_package.bare.{name}", "x", ["my_package"], kind)


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (lambda model: None, "Mine returned NoneType; return a model; the method `extend` of"),
        (lambda model: model.scheme, "Mine returned RoPE; return a model"),
        (lambda model: model, "Mine returned the model that it was given; return a copy"),
        (
            lambda model: [copy.deepcopy(model), model.embedding.weight.detach().mul_(2)][0],
            "Mine changed the model that it was given; change a deepcopy",
        ),
        (
            lambda model: [copy.deepcopy(model), model.norm.register_parameter("weight", None)][0],
            "Mine changed the model that it was given",
        ),
    ],
)
def test_an_extension_returns_another_model(made, line):
    mine = job("extension=yarn", "extension.factor=4", "scheme=rope")
    cls = type("Mine", (Extension,), {"__call__": lambda self, model: made(model)})
    mine.__dict__["extension"] = cls()
    with pytest.raises(UserError, match=rf"^extension=yarn: {line}"):
        validate.check(mine)


def test_rows_of_a_gate_need_one():
    recorder = Recorder()
    recorder.value("accuracy", 1.0)
    with pytest.raises(ValueError, match=r"^no gate among the rows; record one .*share\('gate'"):
        recorder.by_gate()
    assert Recorder().by_gate().rows == []


def test_a_task_without_rows_is_said():
    with pytest.warns(UserWarning, match=r"^task\.mine: no rows; run recorded none, or"):
        checked(Result([]), "mine")


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_a_task_is_one_line(mine, case, monkeypatch, capsys):
    file, (right, wrong), line = MISTAKES[case]
    text = Path(file).read_text()
    Path(file).write_text(text.replace(right, wrong))
    words = ["--config-dir", "my_conf", "plugins=[my_package]", "task=[induction]", "threads=1"]
    words += [] if right.startswith("#") else ["task.induction.multiples=[1,2]"]
    words += [word for word in TINY if not word.startswith("task.")]
    assert refused(monkeypatch, capsys, *words).endswith(line)


def test_an_exception_out_of_a_plug_in_is_its_mistake():
    """The last line of the plug-in on the way to it is named, wherever it was raised."""
    for mistake in ("int('x')", "[].pop()", "__import__('json').loads('{')"):
        place = {"__name__": "my_package.inside"}
        code = compile(f"def run():\n    {mistake}\n", "inside.py", "exec")
        exec(code, place)
        with (
            pytest.raises(UserError, match=r"^plugins=my_package: \w+ in inside\.py, line 2: "),
            told(["other", "my_package"]),
        ):
            place["run"]()
        with pytest.raises((ValueError, IndexError)), told(["other"]):
            place["run"]()


def test_a_full_disk_is_no_mistake_of_a_plug_in():
    def run():
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"), told(["tests"]):
        run()


def test_a_row_without_a_status_is_ok():
    (row,) = checked(Result([{"metric": "accuracy", "value": 1.0}]), "mine").rows
    assert row == {"metric": "accuracy", "value": 1.0, "status": "ok"}


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ([{"metric": "a", "value": 1.0}], r"run returned list; return Result\(rows\)"),
        (Result([{"value": 1.0}]), "metric is empty in .* correct the rows that run returns"),
        (Result([{"metric": "a"}]), "value is empty"),
        (Result([{"metric": "a", "value": 1, "words": 1}]), "unknown column words; .* length, .*"),
        (Result([{"metric": "a", "value": "much"}]), "'much' is not a number"),
        (Result([{"metric": "a", "value": 1, "status": "fine"}]), "status: 'fine' is none of ok"),
        (Result([{"metric": "a", "value": 1}] * 2), "two rows at"),
        (Result([0.5]), "unsupported operand"),
    ],
)
def test_rows_are_checked_where_a_task_returns_them(result, line):
    with pytest.raises(UserError, match=rf"^task\.mine: {line}") as error:
        checked(result, "mine")
    assert "\n" not in str(error.value)


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
    assert "FIGURE=plain_loss: no such figure" in capsys.readouterr().err


BAD = {
    "its name is taken": ("kv_depth", '"""K."""\nNEEDS = {}\n\ndef draw(rows): ...\n', "is taken"),
    "it needs no task": (
        "mine",
        '"""K."""\nNEEDS = {"metric": "nll"}\n\ndef draw(rows): ...\n',
        "or one without a task",
    ),
    "it needs a column that is none": (
        "mine",
        '"""K."""\nNEEDS = {"task": "nll", "colour": 1}\n\ndef draw(rows): ...\n',
        "or one without a task or of other columns",
    ),
    "it has no caption": ("mine", "NEEDS = {}\n\ndef draw(rows): ...\n", "no caption"),
    "it needs no rows": ("mine", '"""K."""\n\ndef draw(rows): ...\n', "no NEEDS"),
    "it fails while it is read": ("mine", '"""K."""\nx = 1 / 0\n', "ZeroDivisionError in "),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_figure_is_one_line(mine, case):
    name, text, line = BAD[case]
    Path(f"my_package/figures/{name}.py").write_text(text)
    sys.path.append(str(mine))
    with pytest.raises(UserError, match=rf"^plugins=my_package: .*{line}") as error:
        figures.available(plugins=["my_package"])
    assert name in str(error.value)


def test_in_python(mine):
    words = ["hydra.searchpath=[file://my_conf]", "plugins=[my_package]", "scheme=tilt"]
    run = extrap.train(*words, *[word for word in TINY if not word.startswith("task.")])
    rows = extrap.evaluate(run, "task.nll.documents=4", tasks="nll", multiples=[1, 2])
    assert extrap.plot(rows, "plain_loss", plugins=["my_package"]).axes


NOT_DRAWN = {
    "rows['x']": "KeyError in .*mine\\.py, line 6: 'x'",  # pandas raises it
    "3": r"my_package\.figures\.mine: draw returned int; return a figure of matplotlib",
}


@pytest.mark.parametrize("made", NOT_DRAWN)
def test_a_figure_that_cannot_draw_is_one_line(made, mine, capsys):
    """With the place; one of ours that cannot is a bug, with its traceback."""
    write(mine / "results" / "own" / "rows" / "a.csv", run_rows("rope"))
    text = f'"""K."""\nNEEDS = {{"task": "nll"}}\n\n\ndef draw(rows):\n    return {made}\n'
    Path("my_package/figures/mine.py").write_text(text)
    with pytest.raises(SystemExit, match="2"):
        plot.main(["own", "mine", "--plugins", "my_package,my_package"])
    err = capsys.readouterr().err
    assert re.fullmatch(f"extrap plot: plugins=my_package: {NOT_DRAWN[made]}\n", err)


def test_the_command_that_draws_names_the_plug_ins():
    entry = Entry("own", "tilt-0-s0", "direct", {"nll": "0"})
    assert closing(entry)[1] == "figures: extrap plot own"
    assert closing(entry, plugins=["a", "b"])[1] == "figures: extrap plot own --plugins a,b"


def test_a_choice_with_the_name_of_one_of_ours_is_refused(mine, monkeypatch, capsys):
    taken = mine / "my_conf" / "scheme" / "rope.yaml"
    taken.write_text("_target_: my_package.tilt.Tilt\n")
    words = ["--config-dir", "my_conf", "plugins=[my_package]", "scheme=rope"]
    said = refused(monkeypatch, capsys, *words)
    assert "my_conf: scheme/rope.yaml has the name of one of" in said


def test_figures_of_a_package_lie_in_a_folder(mine):
    Path("lone").mkdir()
    Path("lone/__init__.py").touch()
    Path("lone/figures.py").touch()
    sys.path.append(str(mine))
    with pytest.raises(
        UserError, match=r"^plugins=lone: lone\.figures: a file; put figures into a f"
    ):
        figures.available(plugins=["lone"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--plugins", "no_package"], "plugins=no_package: no such package here"),
        (["--plugins", "a-b"], "plugins=['a-b']: names of packages, such as plugins=[my_package]"),
    ],
)
def test_a_package_that_is_not_there_is_one_line(words, line, mine, capsys):
    with pytest.raises(SystemExit, match="2"):
        plot.main(["--list", *words])
    assert capsys.readouterr().err == f"extrap plot: {line}\n"


@pytest.mark.turns
def test_under_contract(mine):
    """All of it holds, and it is found: one check that each of the four would be missed in."""
    files = ["schemes", "shapes", "extensions", "tasks", "figures", "hints"]
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
