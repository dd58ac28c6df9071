"""What work costs is kept with the run, adds up over attempts, and is printed."""

import os
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import torch

from extrap.cli import report, spent, table
from extrap.runs.cost import PER_DEVICE, Cost, costs, read, total
from extrap.runs.evaluate import _gpus, entry, evaluate
from extrap.runs.folder import Run
from extrap.runs.layout import RESULTS
from extrap.runs.train import train
from extrap.runs.training import batch_shares, meter
from extrap.runs.training.callbacks import Curve
from extrap.utils.progress import FILE, words
from tests.support.jobs import TINY, job
from tests.support.killed import killed


def test_a_job_records_its_cost_and_a_resumed_one_adds_to_it(elsewhere, monkeypatch, capsys):
    tiny = [word for word in TINY if "task.kv" not in word]
    this = job("study=spent", "task=nll", tiny=tiny)
    with killed(monkeypatch, 5):
        train(this)
    before = torch.load(this.run.checkpoint, weights_only=True)["callbacks"]
    [saved] = [state["cost"] for name, state in before.items() if name.startswith(Curve.__name__)]
    assert saved["seconds"] > 0 and saved["processor_seconds"] > 0
    train(this)
    found = read(this.run.state["cost"])
    assert found.seconds > saved["seconds"]
    assert found.processor_seconds > saved["processor_seconds"]
    assert found.memory > 1e7 and found.tokens_per_second > 0
    assert (found.device_seconds, found.share_of_peak) == (0, None)
    evaluate(this)
    entry(this, "extrap").write()
    known = costs("spent")
    assert list(known) == [this.run.name, f"{this.run.name} + direct"]
    assert total(known.values()).seconds > found.seconds
    table.main(["spent", "--cost"])
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == [
        "ended",
        "wall",
        "processor",
        "GPU",
        "memory",
        "tokens/s",
        "of",
        "peak",
    ]
    assert [line.split("  ")[0] for line in said[2:]] == [*known, "all"]
    os.utime(this.run.ended, (86400.0, 86400.0))  # a copy keeps the day of its files
    days = [line[1] for line in spent.lines("spent")]
    assert days == ["1970-01-02", f"{datetime.now(UTC):%Y-%m-%d}", ""]
    assert spent.values("spent")["total"]["share_of_peak"] is None
    page, plain = (
        report.text(RESULTS, ["spent"], images=False, cost=cost) for cost in (True, False)
    )
    for cells in spent.lines("spent"):
        assert all(f">{cell}</td>" in page for cell in cells if cell), cells
    assert "Cost of each training" in page and "Cost of each training" not in plain


def test_a_process_that_had_nothing_left_to_read_has_no_rate(elsewhere, monkeypatch):
    """The one before was killed between its last checkpoint and the mark of the run."""
    this = job()
    with monkeypatch.context() as patched:
        patched.setattr(Run, "mark", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(this)
    train(this)
    found = read(this.run.state["cost"])
    assert found.seconds > 0 and found.tokens_per_second is None


def test_the_share_of_the_peak_of_a_gpu(monkeypatch):
    """Of products as the benchmark counts them: of a large vocabulary the head alone, for the
    tokens that it scores.
    """
    this = job("model.dim=16", "model.heads=2", "data.vocabulary.keys=9000")
    model, batch = this.source.model(), batch_shares.share(this.training.batches[0], 0, 1)
    (V, C), (B, T) = model.embedding.weight.shape, batch.tokens.shape
    blocks = sum(p.numel() for p in model.blocks.parameters())
    scored = int((batch.targets >= 0).sum())
    by_hand = B * T * (6 * blocks + 12 * 2 * C * T) + 6 * V * C * scored
    assert scored < B * T and by_hand < 0.8 * B * T * 6 * sum(p.numel() for p in model.parameters())
    batch.turns = 2  # its step has a second half
    curve, lit = Curve(every=2), SimpleNamespace(model=model)
    curve.meter = SimpleNamespace(gpus=1, seconds=0.5)
    for _ in range(3):
        curve.on_train_batch_end(SimpleNamespace(world_size=1), lit, None, batch, 0)
    assert curve.work == 6 * by_hand
    assert meter.share_of_peak(curve.work, torch.device("cpu"), "bf16-mixed") is None
    device = type("Device", (), {"type": "cuda"})()
    throughput = pytest.importorskip("lightning.fabric.utilities.throughput")
    monkeypatch.setattr(throughput, "get_available_flops", lambda *_: 12e12)
    assert meter.share_of_peak(3e12, device, "32-true") == 0.25


def test_jobs_that_share_a_gpu_share_its_time(monkeypatch):
    for name in ("reset_peak_memory_stats", "max_memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda: 0)
    for told, part in (("4", 0.5), ("1", 2), ("0", 2), ("many", 2)):
        monkeypatch.setenv(PER_DEVICE, told)
        found = meter.Meter(gpus=2).cost()
        assert found.device_seconds == pytest.approx(part * found.seconds)


def test_a_sweep_keeps_all_gpus_of_a_job_for_its_evaluation(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    this = job("trainer=gpu", "trainer.devices=4")
    assert _gpus(this) == 1
    monkeypatch.setenv(FILE, "report.json")
    assert (_gpus(this), _gpus(job("trainer=gpu")), _gpus(job())) == (4, 1, 0)


def test_the_display_tells_the_memory_of_an_evaluation(elsewhere, monkeypatch):
    told = []
    monkeypatch.setattr("extrap.utils.progress.write", told.append)
    train(this := job("task=nll", tiny=[word for word in TINY if "task.kv" not in word]))
    evaluate(this)
    states = [state for state in told if state["phase"] == "nll"]
    assert states[-1]["done"] == states[-1]["total"] and states[-1]["memory"] > 1e7


def test_a_cost_from_a_folder_of_others_is_numbers_or_nothing():
    found = read({"seconds": "3", "memory": float("inf"), "processor_seconds": 2, "more": 1})
    assert found == Cost(processor_seconds=2)
    assert read(None) == read([]) == Cost()
    said = words({"phase": "train", "rate": 52000.4, "memory": 1.23e9, "device": "GPU 3"})
    assert said == ["train", "GPU 3", "1.2 GB", "52,000 tokens/s"]


def test_several_works_have_no_rate_in_common():
    slow, fast = (Cost(2.0, tokens_per_second=n, share_of_peak=0.4) for n in (10.0, 9000.0))
    whole = total([slow, fast])
    assert (whole.seconds, whole.tokens_per_second, whole.share_of_peak) == (4.0, None, None)
