"""What work costs is kept with the run, adds up over attempts, and is printed."""

import os
from datetime import UTC, datetime

import pytest
import torch

from extrap.cli import report, spent, table
from extrap.runs.cost import PER_DEVICE, Cost, costs, read, total
from extrap.runs.evaluate import _gpus, entry, evaluate
from extrap.runs.folder import Run
from extrap.runs.layout import RESULTS
from extrap.runs.train import train
from extrap.runs.training import meter
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
    """A model of 1000 numbers that reads 1e9 tokens per second does 6e12 operations, and a few for
    attention; the GPU can do 12e12.
    """
    model = job("model.dim=16", "model.heads=2").source.model()
    assert meter.share_of_peak(1e9, model, torch.device("cpu"), 64, "bf16-mixed") is None
    numbers = sum(p.numel() for p in model.parameters())
    device = type("Device", (), {"type": "cuda"})()
    throughput = pytest.importorskip("lightning.fabric.utilities.throughput")
    monkeypatch.setattr(throughput, "get_available_flops", lambda *_: 12e12)
    expected = (6 * numbers + 12 * 2 * 16 * 64) / 12
    assert meter.share_of_peak(1, model, device, 64, "32-true") * 1e12 == pytest.approx(expected)


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
