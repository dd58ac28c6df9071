"""Evaluation: rows that repeat, are measured once, and reach W&B unchanged."""

import sys
from math import isnan
from pathlib import Path

import pytest
import torch

from extrap.model.gpt import GPT
from extrap.results import rows
from extrap.runs import checkpoint, experiment, validate
from extrap.runs.evaluate import entry, evaluate, evaluations
from extrap.runs.folder import read_json, write_json
from extrap.runs.train import train
from extrap.tasks.nll import NLL
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils import progress
from extrap.utils.errors import UserError
from tests.support.jobs import TINY, job

pytestmark = pytest.mark.usefixtures("elsewhere")


def run(*overrides: str):
    j = job(*overrides)
    train(j)
    evaluate(j)
    j.dashboard.finish()
    return j


def test_two_identical_runs_give_identical_rows(elsewhere):
    j = run("scheme=alibi")
    assert not entry(j).missing()
    files = {p.name: p.read_bytes() for p in (j.results / "rows").iterdir()}
    assert {name.rsplit("__")[-1] for name in files} == {"train.csv", "nll.csv", "kv.csv"}
    (elsewhere / "runs" / j.run.name).rename(elsewhere / "gone")
    assert entry(job("scheme=alibi")).missing()
    run("scheme=alibi")
    assert files == {p.name: p.read_bytes() for p in (j.results / "rows").iterdir()}


def test_finished_rows_are_left_alone_and_lost_ones_measured_again():
    j = run("scheme=nope")
    paths = sorted((j.results / "rows").iterdir())
    before = [p.stat().st_mtime_ns for p in paths]
    run("scheme=nope")
    assert before == [p.stat().st_mtime_ns for p in paths]
    paths[0].unlink()
    paths[1].write_text(paths[1].read_text().replace("ok", "diverged"))
    assert entry(job("scheme=nope")).missing()
    run("scheme=nope")
    frame = rows.read(j.results)
    assert set(frame.task) == {"train", "nll", "kv"}
    assert "diverged" not in set(frame.status)


def test_a_run_is_shared_by_studies_and_trained_once():
    a, b = run("scheme=nope"), run("scheme=nope", "study=second", "task.kv.trials=12")
    assert a.run.folder == b.run.folder
    assert (rows.read(b.results).study == "second").all()


def test_extensions_of_a_run_are_evaluated_side_by_side(monkeypatch):
    """While another process makes rows of the same run, and has its curve yet to write."""
    plain, far = job("scheme=rope"), job("scheme=rope", "extension=pi")
    train(plain)
    monkeypatch.setenv(progress.FILE, "progress.json")  # as in a sweep
    with plain.run.alone_at(entry(plain).work):
        experiment.Experiment(far, "extrap", True).run()
    assert not entry(far).missing() and entry(plain).missing()
    assert set(rows.read(far.results).task) == {"train", "used", "nll", "kv"}


@pytest.mark.parametrize("training", [False, True])
def test_what_another_sweep_began_meanwhile_takes_no_place_in_this_one(monkeypatch, training):
    """Nothing is waited for, and nobody's failure is noted."""
    monkeypatch.setenv(progress.FILE, "progress.json")  # as in a sweep
    this = job("scheme=rope")
    holding = this.run.alone() if training else this.run.alone_at(entry(this).work)
    with holding:
        experiment.Experiment(job("scheme=rope"), "extrap", True).run()
    said = read_json(Path("progress.json"))
    assert (said["phase"], said["note"].split()[0]) == ("held", "process")
    assert not this.run.trained and this.run.failure() is None


def test_a_run_ends_with_what_to_do_next(elsewhere, monkeypatch, capsys):
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.setattr(sys, "argv", ["extrap", "scheme=nope"])
    for stage in ("train", "all", "all"):
        experiment.Experiment(job("scheme=nope", f"stage={stage}"), "extrap").run()
        lines = capsys.readouterr().err.splitlines()
        assert lines[-1].startswith("next: ")
        files = [line for line in lines if line.startswith("rows: ")]
        assert len(files) == (stage == "all")
        assert all(list(elsewhere.glob(line.removeprefix("rows: "))) for line in files)
    assert not list((elsewhere / "runs").glob("*/.*.json"))


def test_an_untrained_run_is_refused_and_trained_ones_of_its_label_are_named():
    with pytest.raises(UserError, match="not trained yet") as error:
        evaluate(job("scheme=rope", "stage=evaluate"))
    assert (error.value.option, error.value.value) == ("stage", "evaluate")
    assert "but" not in error.value.problem
    trained = job("scheme=rope", "train.steps=8")
    with trained.run.alone():
        trained.run.claim()
        checkpoint.save(trained.source.model().state_dict(), trained.run.weights)
        write_json(trained.run.curve, {"points": []})
        trained.run.mark("trained", 8)
    for words in (["train.steps=9"], ["train.steps=8", "seed=3"]):
        with pytest.raises(UserError) as error:
            evaluate(job("scheme=rope", *words))
        assert error.value.problem.endswith(f"yet; trained with other options: {trained.run.name}")
    with pytest.raises(UserError) as error:
        evaluate(job("scheme=alibi", "train.steps=9", "seed=4"))
    assert error.value.problem.endswith("is not trained yet")


def test_options_of_tasks_that_are_not_asked_are_left_aside():
    """`extrap experiment=suite task=[kv]`: the options of the experiment's other tasks stand there
    without their task.
    """
    narrowed = job("task=[kv,nll]", "+task.haystack.trials=3")
    with pytest.warns(UserWarning, match=r"^task=\[kv,nll\]: options of haystack are left aside$"):
        validate.check(narrowed)
    assert (
        narrowed.task_names == ["kv", "nll"]
        and list(narrowed.tasks) == ["kv", "nll"]
        and not narrowed.refused
    )
    with pytest.raises(UserError, match=r"^task\.haystac=.*expected Task"):
        validate.check(job("task=[kv,nll]", "+task.haystac.trials=3"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("data=retrieval", "data.text.size=0"), {"not trained"}), (("data=retrieval",), {"ok"})],
)
def test_a_run_that_never_learned_text_has_no_say_on_its_loss(words, expected):
    """What a run was trained on decides: retrieval alone scores no token of text."""
    frame = rows.read(run(*words).results)
    assert set(frame[frame.task == "nll"].status) == expected


def test_a_task_that_knows_nothing_of_nan_has_no_rows_where_logits_are_no_numbers(monkeypatch):
    """Its most likely token of nan is the first one."""

    def argmax(self, model, setting, progress):
        recorder = Recorder()
        for n in (setting.length, 2 * setting.length):
            said = model(torch.zeros(1, n, dtype=torch.long), last=1)[:, -1].argmax(-1)
            recorder.at(length=n).proportion("accuracy", (said == 0).numpy())
            recorder.at(length=n).scores("accuracy", [1.0])
        return recorder.result()

    this = job("scheme=nope")
    train(this)
    monkeypatch.setattr(NLL, "run", argmax)
    plain = GPT.forward
    lost = this.source.length
    monkeypatch.setattr(
        GPT, "forward", lambda g, x, last=None: plain(g, x, last) / (x.shape[1] <= lost)
    )
    result = evaluations(this)["nll"]()
    assert [row["status"] for row in result.rows] == ["ok", "diverged"]
    assert isnan(result.rows[1]["value"]) and [i["length"] for i in result.items] == [lost]


AHEAD = """
from extrap import Extension, Scheme, SchemeExtension

class Ahead(Scheme):
    \"\"\"Kind: relative
    Past L: defined
    \"\"\"

    def __init__(self, shape, longest: int = 64):
        super().__init__(shape)
        self.longest = longest

    def attend(self, q, k, v, at):
        s = q @ k.mT * at.scale
        s = s if at.length > self.longest else s.masked_fill(~at.visible, float("-inf"))
        return s.softmax(-1) @ v

class Peek(SchemeExtension):
    def extend(self, scheme):
        return Ahead(scheme.shape, 0)

class Glance(Extension):
    looks_ahead = True

    def __call__(self, model):
        def read(tokens, last=None):
            logits = model(tokens)
            return (logits + logits[:, -1:])[:, -(last or tokens.shape[1]):]
        return read
"""


@pytest.fixture
def theirs(elsewhere, monkeypatch) -> list[str]:
    """Words that name a plug-in whose readers see later tokens."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(elsewhere)])
    (elsewhere / "seeing").mkdir()
    (elsewhere / "seeing" / "__init__.py").write_text(AHEAD)
    for place, cls in (
        ("scheme/ahead", "Ahead"),
        ("extension/peek", "Peek"),
        ("extension/glance", "Glance"),
    ):
        file = elsewhere / "theirs" / f"{place}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# theirs\n_target_: seeing.{cls}\n")
    return ["hydra.searchpath=[file://theirs]", "plugins=[seeing]"]


@pytest.mark.parametrize(
    ("words", "option", "tokens"),
    [(["scheme=ahead"], "scheme", 128), (["scheme=nope", "extension=peek"], "extension", 8)],
)
def test_a_reader_of_a_plug_in_that_sees_later_tokens_is_refused(theirs, words, option, tokens):
    """A scheme in long texts alone, where the check before the training has read a short one."""
    this = job(*theirs, *words)
    validate.check(this)
    train(this)
    with pytest.raises(UserError) as error:
        evaluate(this)
    assert (error.value.option, error.value.value) == (option, words[-1].partition("=")[2])
    assert error.value.problem.startswith(f"sees later tokens (a text of {tokens} tokens)")
    assert not list((this.results / "rows").glob("*__nll.csv"))


def test_a_plain_reader_that_looks_ahead_by_design_is_asked_the_ends_of_texts_alone(theirs):
    words = [*theirs, "scheme=nope", "extension=glance"]
    with pytest.raises(UserError, match=r"^task=nll: scores tokens that depend on later ones"):
        validate.check(job(*words))
    tiny = [word for word in TINY if not word.startswith("task.nll")]
    this = job(*words, "task=[kv]", tiny=tiny)
    validate.check(this)
    train(this)
    evaluate(this)
    assert not entry(this).missing()


@pytest.mark.parametrize("task", ["gap", "context-gain", "nll-position"])
def test_the_factor_of_a_row_is_that_of_the_text_that_was_read(task):
    """`gap` reads half a window at far coordinates, `crop` and `windowed` read L tokens."""
    options = [f"task.{task}.documents=4", f"task.{task}.multiples=[{1 + (task[0] == 'n')},4]"]
    tiny = [word for word in TINY if not word.startswith("task.")]
    this = job("scheme=rope", "extension=pi-adaptive", f"task=[{task}]", *options, tiny=tiny)
    train(this)
    evaluate(this)
    found = rows.read(this.results)
    found = found[(found["task"] == task) & (found["multiple"] == 4)]
    short = found["protocol"].isin(["jump", "crop", "window", "windowed"])
    assert set(found.loc[short, "factor"]) == {1.0}
    assert set(found.loc[~short, "factor"]) <= {4.0}
