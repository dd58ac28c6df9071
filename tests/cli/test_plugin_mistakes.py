"""A mistake in a package of one's own is one line that names it."""

import copy
import errno
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from extrap import Scheme, SchemeExtension, Stack, figures
from extrap.cli import plot
from extrap.extensions.base import Extension
from extrap.results.rows import write
from extrap.runs import validate
from extrap.runs.build import find
from extrap.tasks.base import Result, Task
from extrap.tasks.scoring.checked import checked
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.errors import UserError
from extrap.utils.plugins import told
from tests.support.discover import gpt
from tests.support.jobs import TINY, job
from tests.support.plausible import run_rows
from tests.support.program import typed


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *words: str) -> str:
    """Returns the last line on stderr of `extrap <words>`, a mistake, in this process."""
    with pytest.raises(SystemExit, match="2"):
        typed(monkeypatch, *words)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.splitlines()[-1]


MISTAKES = {
    "no package line": (
        "my_conf/task/induction.yaml",
        ("# @package task.induction\n", ""),
        "task=induction: its file puts its options at task; write `# @package task.induction` in "
        "its first line",
    ),
    "a list without items": (
        "my_package/induction.py",
        ("multiples: Multiples", "multiples: tuple"),
        "task.induction.multiples=[1, 2]: expected a list; its annotation must name the items, as "
        "Sequence[float] or extrap.Multiples",
    ),
    "a task of the form before Setting": (
        "my_package/induction.py",
        (
            "model: Model, setting: Setting, progress: Progress",
            "model, corpus, vocabulary, train_length, progress",
        ),
        "my_package/induction.py, line 29: expected run(self, model, setting, progress), where "
        "setting has corpus, vocabulary and length; take the arguments of its base class",
    ),
    "a task that fails": (
        "my_package/induction.py",
        ("hits(log_p, answers)", "log_p.numpy()[:, 7, 7]"),
        "my_package/induction.py, line 41: too many indices for array: array is 2-dimensional, but "
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


SIGNATURES = {
    "Mine(Scheme)": ("distance_bias(self, d)", "distance_bias(self, d, layer)"),
    "Mine(SchemeExtension)": ("extend(self)", "extend(self, scheme)"),
    "Mine(AtLengths)": ("run(self, model, setting)", "run(self, model, setting, progress)"),
    "Mine(KV)": (
        "check(self, corpus, vocabulary, train_length)",
        "check(self, setting), where setting has corpus, vocabulary and length",
    ),
    "Mine(NLL)": (
        "check(self, corpus, vocabulary=None, train_length=0)",
        "check(self, setting), where setting has corpus, vocabulary and length",
    ),
    "Mine(Gap)": (
        "run(self, model, corpus, vocabulary=None, train_length=0, progress=None)",
        "run(self, model, setting, progress), where setting has corpus, vocabulary and length",
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_method_that_takes_other_arguments_is_refused_with_its_line(mine, name):
    sys.path.append(str(mine))
    takes, wanted = SIGNATURES[name]
    tasks = "from extrap.tasks import gap, kv, nll; Gap, KV, NLL = gap.Gap, kv.KV, nll.NLL"
    imports = f"from extrap import *\n{tasks}\n"
    Path("my_package/other.py").write_text(f"{imports}class {name}:\n    def {takes}: ...\n")
    named = re.sub(r"=\w+", "", takes)
    line = rf"{re.escape(named)} in .*my_package/other\.py, line 4: expected {re.escape(wanted)}; "
    with pytest.raises(UserError, match=rf"^x\._target_=my_package\.other\.Mine: {line}"):
        find("my_package.other.Mine", "x", ["my_package"])


class Bare(SchemeExtension):
    def extend(self, scheme): ...


class Short(Scheme):
    def positions(self, t):
        return t[1:]


class Without(Scheme):
    def positions(self): ...


class Stacked(SchemeExtension):
    def __init__(self, part: type[Scheme]):
        self.part = part

    def extend(self, scheme):
        return Stack(scheme.shape, [self.part(scheme.shape), scheme])


@pytest.mark.parametrize(
    ("extension", "line"),
    [
        (Bare(), r"^extension=Bare: extend in .*, line \d+ returned NoneType; return the extended"),
        (Stacked(Short), r"^extension: positions in .*, line \d+ returned \(\d+,\) for \d+ tok"),
        (Stacked(Without), r"=Stacked: positions\(self\) in .*: expected positions\(self, t\); "),
    ],
)
@pytest.mark.parametrize("scheme", ["rope", "hwfa"])  # hwfa has layers that stay as they are
def test_an_extension_returns_a_scheme_with_every_coordinate(extension, line, scheme):
    with pytest.raises(UserError, match=line):
        extension(gpt(scheme))


def test_a_mean_is_of_one_axis():
    for values in (np.zeros((3, 2)), 1.0):
        with pytest.raises(ValueError, match=r"^accuracy: mean takes values \(N,\), got an array"):
            Recorder().mean("accuracy", values)


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (lambda model: None, "returned NoneType; return a model; the method `extend` of"),
        (lambda model: model, "returned the model that it was given; return a copy"),
        (
            lambda model: [copy.deepcopy(model), model.embedding.weight.detach().mul_(2)][0],
            "changed the model that it was given; change a deepcopy",
        ),
        (
            lambda model: [copy.deepcopy(model), model.norm.register_parameter("weight", None)][0],
            "changed the model that it was given",
        ),
    ],
)
def test_an_extension_returns_another_model(made, line):
    mine = job("extension=yarn", "extension.factor=4", "scheme=rope")
    cls = type("Mine", (Extension,), {"__call__": lambda self, model: made(model)})
    mine.__dict__["extension"] = cls()
    with pytest.raises(UserError, match=rf"^extension=yarn: Mine in .*, line \d+ {line}"):
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


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ([{"metric": "a", "value": 1.0}], r"run returned list; return Result\(rows\)"),
        (Result([{"value": 1.0}]), "metric is empty in .* correct the rows that run returns"),
        (Result([{"metric": "a", "value": 1, "words": 1}]), "unknown column words; .* length, .*"),
        (Result([{"metric": "a", "value": 1}] * 2), "two rows at"),
        (Result([0.5]), "unsupported operand"),
    ],
)
def test_rows_are_checked_where_a_task_returns_them(result, line):
    with pytest.raises(UserError, match=rf"^task\.mine: {line}") as error:
        checked(result, "mine")
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=rf"run in {__file__}, line \d+ return"):
        checked(result, "mine", refused)


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
    "it draws nothing": ("mine", '"""K."""\nNEEDS = {"task": "nll"}\n', "no draw; define draw"),
    "it needs no rows": ("mine", '"""K."""\n\ndef draw(rows): ...\n', "no NEEDS"),
    "it fails while it is read": ("mine", '"""K."""\nx = 1 / 0\n', "ZeroDivisionError in "),
    "it holds a wrong value": ("mine", '"""K."""\nx = int("one")\n', "ValueError in "),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_figure_is_one_line(mine, case):
    name, text, line = BAD[case]
    Path(f"my_package/figures/{name}.py").write_text(text)
    sys.path.append(str(mine))
    with pytest.raises(UserError, match=rf"^plugins=my_package: .*{line}") as error:
        figures.available(plugins=["my_package"])
    assert name in str(error.value)


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


@pytest.mark.parametrize("words", [["task=inductio"], ["task=[nll,inductio]"]])
@pytest.mark.parametrize("folder", [["--config-dir", "my_conf"], ["hydra.searchpath=[my_conf]"]])
def test_a_misspelt_choice_of_ones_own_is_guessed(folder, words, mine, monkeypatch, capsys):
    said = refused(monkeypatch, capsys, *folder, *words)
    line = "extrap: task=inductio: no such task; did you mean induction? choose one of aggregate"
    assert said.startswith(line)


def test_a_choice_with_the_name_of_one_of_ours_is_refused(mine, monkeypatch, capsys):
    taken = mine / "my_conf" / "scheme" / "rope.yaml"
    taken.write_text("_target_: my_package.tilt.Tilt\n")
    words = ["--config-dir", "my_conf", "plugins=[my_package]", "scheme=rope"]
    said = refused(monkeypatch, capsys, *words)
    assert "my_conf: scheme/rope.yaml has the name of one of" in said


OWN = ["hydra.searchpath=[file://my_conf]", "plugins=[my_package]"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("train", "extrap writes rows of its own under this name; rename its file"),
        ("used", "extrap writes rows of its own under this name; rename its file"),
        ("my__task", "two underscores divide the names of files of rows; rename its file"),
    ],
)
def test_a_task_is_not_named_as_rows_of_extrap_are(mine, name, line):
    text = Path("my_conf/task/induction.yaml").read_text()
    Path(f"my_conf/task/{name}.yaml").write_text(text.replace("task.induction", f"task.{name}"))
    with pytest.raises(UserError, match=rf"^task={name}: {line}"):
        validate.check_own(job(*OWN, f"task=[{name}]", tiny=[]))


def test_the_name_of_an_extension_does_not_divide_that_of_its_rows(mine):
    Path("my_conf/extension/level.yaml").rename("my_conf/extension/my__level.yaml")
    with pytest.raises(UserError, match=r"^extension=my__level: two underscores divide"):
        validate.check_own(job(*OWN, "scheme=tilt", "extension=my__level"))


def test_what_is_no_name_of_a_package_is_one_line(capsys):
    with pytest.raises(SystemExit, match="2"):
        plot.main(["--list", "--plugins", "a-b"])
    line = "plugins=['a-b']: names of packages, such as 'plugins=[my_package]'"
    assert capsys.readouterr().err == f"extrap plot: {line}\n"
