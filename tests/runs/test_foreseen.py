"""Tokens in place of steps and windows, checkpoints by minutes, and what a training costs."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import torch

from extrap.cli import program
from extrap.cli.composed import composed
from extrap.data.corpora.files import Files
from extrap.runs import foreseen, source, validate
from extrap.runs import train as stage
from extrap.runs.experiment import Experiment
from extrap.runs.foreseen import Pace, calibrate
from extrap.runs.source import LAUNCHER
from extrap.runs.training.callbacks import BetweenUpdates, Curve
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import recomputed
from extrap.tasks.parity import EngineParity
from extrap.utils import progress
from extrap.utils.errors import UserError
from tests.support.jobs import TINY, equal, job, weights
from tests.support.killed import killed

HERE = ("sweep.grid=null", "data/corpus=torch", "trainer=cpu", "logger=none")

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_tokens_in_place_of_steps_and_windows():
    given = job("train.tokens=1e4", "data.tokens=1024")
    assert [part.size for part in given.source.mixture.parts.values()] == [8, 8]
    assert given.source.optim.steps == math.ceil(1e4 / 1024) == len(given.source.batches)
    assert len(given.source.batches[0].tokens) == 16
    assert job("train.tokens=1e4", "data.tokens=1024").run.name == given.run.name
    by_steps = job("train.steps=10", "data.tokens=1024")
    assert by_steps.run.name == given.run.name != job("train.steps=10").run.name
    assert job("data.tokens=null").run.name == job().run.name
    with pytest.raises(UserError, match="expected at least the 512 tokens of a step"):
        _ = job("train.tokens=100").source.optim


def test_steps_beside_the_tokens_of_an_experiment_are_not_dropped():
    words = ["experiment=reference/gpu", "scheme=rope", "seed=0", "train.steps=20", *HERE]
    with pytest.raises(UserError, match=r"^train.steps=20: .*; add train.tokens=null$"):
        program.job(composed(words))
    assert program.job(composed([*words, "train.tokens=null"])).training.optim.steps == 20


def test_a_checkpoint_by_minutes_lies_between_two_points_of_the_curve(monkeypatch):
    """Resumed after a kill, weights and curve are those of an uninterrupted training."""
    words = ("train.log_every=4", "train.save_every=8")
    whole = job(*words, "seed=3")
    stage.train(whole)
    expected, curve = weights(whole), whole.run.curve.read_text()
    for path in whole.run.folder.iterdir():
        if path.is_file():
            path.unlink()
    seen = []
    monkeypatch.setattr(Curve, "_log", lambda curve, *_: seen.append(curve.seen))
    saved, save = [], BetweenUpdates._save_checkpoint

    def noted(self, trainer, path):
        save(self, trainer, path)
        saved.append(trainer.global_step)

    monkeypatch.setattr(BetweenUpdates, "_save_checkpoint", noted)
    often = job(*words, "seed=3", "train.save_minutes=1e-9")
    with killed(monkeypatch, 6):
        stage.train(often)
    assert saved == [1, 2, 3, 4, 5]
    stage.train(often)
    assert equal(expected, weights(often)) and curve == often.run.curve.read_text()
    assert seen == [4 * 8 * 64, 8 * 8 * 64]


def test_loggers_get_tokens_rate_and_memory(elsewhere):
    stage.train(job("logger=csv", "seed=5"))
    (file,) = elsewhere.rglob("metrics.csv")
    rows = pd.read_csv(file)
    assert rows["train/tokens"].tolist() == [n * 8 * 64 for n in (2, 4, 6, 8)]
    assert (rows["train/tokens_per_second"] > 0).all() and (rows["train/memory_gb"] > 0).all()


def test_memory_is_foreseen_by_windows():
    before = torch.get_rng_state()
    few, many, again = (
        calibrate(this.source, this.source.trainer, torch.device("cpu"))
        for this in (
            job("data=text", "data.text.size=4"),
            job("data=text", "data.text.size=40"),
            job("data=text", "data.text.size=40", "+trainer.recompute=true"),
        )
    )
    assert torch.equal(before, torch.get_rng_state())
    kept = many.bytes - few.bytes
    layer_inputs = 36 * 64 * 64 * 4  # windows x tokens x width x bytes
    assert 20 * layer_inputs < kept < 80 * layer_inputs
    assert again.bytes < many.bytes - kept / 2
    assert few.steps == 8 and few.seconds > 0


def test_memory_follows_the_numbers_and_what_is_trained(monkeypatch):
    """A frozen matrix has neither gradient nor moments."""
    monkeypatch.setattr(foreseen.Kept, "bytes", 0)
    monkeypatch.setattr(foreseen, "at_once", lambda device: 0)
    cpu = torch.device("cpu")
    for precision, size in (("32-true", 4), ("64-true", 8), ("bf16-true", 2)):
        source = job(f"trainer.precision={precision}").source
        assert calibrate(source, source.trainer, cpu).bytes == 4 * size * source.params
    lora = ("finetune=lora", "finetune.factor=2", "finetune.steps=2")
    stage.train(job())
    tuned = job(*lora).training
    added = sum(p.numel() for p in tuned.begin().parameters() if p.requires_grad)
    assert 0 < added < tuned.source.params / 4
    need = 4 * (tuned.source.params + 4 * added)
    assert calibrate(tuned, tuned.source.trainer, cpu).bytes == need


def test_this_machine_needs_the_memory_of_what_it_trains(monkeypatch):
    """A login node has less than the nodes and GPUs for which it queues jobs."""
    this = job()
    elsewhere = type(this.source)(this.config, this.choices | {LAUNCHER: "slurm"})
    monkeypatch.setattr(source, "memory", lambda: 8 * this.source.params)
    with pytest.raises(UserError, match=r"need .* GiB in training and this machine has"):
        this.source.check()
    job("trainer=gpu").source.check()
    elsewhere.check()
    with monkeypatch.context() as node:
        node.setenv(progress.FILE, "report.json")
        with pytest.raises(UserError, match="in training"):
            elsewhere.check()
    monkeypatch.setattr(source, "memory", lambda: 3 * this.source.params)
    with pytest.raises(UserError, match="GiB and this machine has"):
        elsewhere.check()


def test_a_compiled_training_is_timed_compiled_and_compiled_anew(monkeypatch):
    """For the number of windows that it has; a CPU times one."""
    calls: list[object] = []
    monkeypatch.setattr(torch, "compile", lambda function: calls.append("compile") or function)
    monkeypatch.setattr(torch.compiler, "reset", lambda: calls.append("reset"))
    for word, expected in (("false", []), ("true", ["compile", "reset"])):
        source = job(f"+trainer.compile={word}").source
        calibrate(source, source.trainer, torch.device("cpu"))
        assert calls == expected


@pytest.mark.parametrize("large, windows", [(False, 8 + 16), (True, 1 + 1)])
def test_a_step_is_timed_whole_unless_the_training_is_large(monkeypatch, large, windows):
    """One window of each part would be many times slower, a window, than all of them at once."""
    seen, step = [], Lit.training_step

    def noted(self, batch, at):
        seen.append(len(batch.tokens))
        return step(self, batch, at)

    monkeypatch.setattr(Lit, "training_step", noted)
    monkeypatch.setattr(foreseen, "large", lambda *_: large)
    source = job("data.text.size=8", "data.retrieval.size=16").source
    calibrate(source, source.trainer, torch.device("cpu"))
    assert seen == [windows] * 2


def test_a_run_takes_its_steps_and_its_readings(monkeypatch):
    monkeypatch.setattr(foreseen, "_second_time", lambda work, device: 0.5)
    few, many = (foreseen.run_seconds(job(f"train.steps={steps}")) for steps in (10, 30))
    assert (few, many) == (0.5 * (10 + foreseen.READINGS), 0.5 * (30 + foreseen.READINGS))
    # a tuned run, whose parent has no weights yet
    tuned = job("train.steps=10", "finetune=full", "finetune.factor=2", "finetune.steps=7")
    assert foreseen.run_seconds(tuned) == 0.5 * (17 + foreseen.READINGS)
    before = torch.get_rng_state()
    monkeypatch.undo()
    assert foreseen.run_seconds(job("train.steps=10")) > 0
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("hours, told", [(2.0, False), (50.0, True)])
def test_time_and_memory_are_said_before_a_training_and_a_day_to_its_sweep(
    monkeypatch, capsys, hours, told
):
    file = Path("report.json")
    monkeypatch.setenv(progress.FILE, str(file))
    monkeypatch.setattr(progress, "_told", [])
    pace = Pace(3600 * hours / 8, 8, 2**30, 2**33)
    monkeypatch.setattr(stage, "calibrate", lambda *_: pace)
    this = job("seed=6")
    stage.warn(this, this.training)
    assert capsys.readouterr().err == "", "it takes no minutes"
    monkeypatch.setattr(foreseen, "SHORT", 0)
    stage.warn(this, this.training)
    line = capsys.readouterr().err
    assert f"takes about {hours:.0f}" in line and line.count("\n") == 1
    assert ("and 1.0 of 8 GiB of memory" in line) != told
    progress.write({"phase": "train"})
    report = json.loads(file.read_text())
    assert report.get("told", "") == (pace.warning("+trainer.recompute=true") if told else "")


@pytest.mark.parametrize("trainer", ["cpu", "gpu"])
@pytest.mark.parametrize("word, least", [("false", foreseen.SHORT), ("true", foreseen.LARGE)])
def test_a_training_of_minutes_is_foreseen_and_a_compiled_one_of_hours(trainer, word, least):
    this = job(f"trainer={trainer}", f"+trainer.compile={word}")
    params = least / foreseen._products(this.training, 1)
    for factor, expected in ((0.9, False), (1.1, True)):
        assert foreseen.worth(this.training, factor * params, this.source.trainer) == expected


def test_a_day_or_too_much_memory_is_a_line():
    assert Pace(1.0, 80_000, 1e9, 2e9).warning("") is None
    assert "takes about 25 hours (1.0 s a step)" in Pace(1.0, 90_000, 1e9, 2e9).warning("")
    line = Pace(1.0, 10, 8 * 2**30, 2**31).warning(recomputed(job().config["trainer"]))
    assert "needs about 8 GiB of memory, and this device has 2; +trainer.recompute=true" in line
    assert recomputed(job("trainer=gpu").config["trainer"]) == "trainer.recompute=true"


@pytest.mark.parametrize("check", [validate.check, lambda job: Experiment(job, "").finished()])
def test_documents_too_short_for_a_task_are_told_before_the_text_is_read(monkeypatch, check):
    """keep_going=true asks the other tasks, and reads the text for them."""

    class Read(Exception):
        """The text is read."""

    def documents(self):
        raise Read

    monkeypatch.setattr(Files, "documents", documents)
    Path("text.txt").write_text("text " * 1000)
    text = ("data/corpus=files", "data.corpus.path=text.txt", "data.corpus.document_tokens=200")
    with pytest.raises(UserError) as error:
        check(job(*text))
    assert error.value.option == "data.corpus.path"
    assert "0 validation documents have 256 tokens or more" in str(error.value)
    assert "raise data.corpus.document_tokens=200" in str(error.value)
    no_loss = [word for word in TINY if "task.nll" not in word]
    for more, tiny in (
        ("data.corpus.document_tokens=256", TINY),
        ("task=[kv]", no_loss),
        ("keep_going=true", TINY),
    ):
        with pytest.raises(Read):
            check(job(*text, more, tiny=tiny))
    source, asked = Files(path="text.txt", document_tokens=200), EngineParity(multiples=(1,))
    asked.check_source(source, 200)
    with pytest.raises(UserError, match=r"raise data\.corpus\.document_tokens=200"):
        asked.check_source(source, 201)


def test_a_device_without_memory_is_a_line(monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried 9 GiB.\nmore")

    monkeypatch.setattr(Lit, "training_step", full)
    with pytest.raises(UserError, match=r"no memory for a step .*; give \+trainer\.recompute"):
        stage.train(job("seed=4"))
