"""The benchmarks run: at toy size, on a CPU. Nothing here looks at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import gpu, measure
from extrap.results import rows

ROOT = Path(__file__).parents[2]
SMALL = ("scheme=rope", "data=text", "model.dim=16", "data.length=16", "data.text.size=2")


def test_a_step_of_a_job():
    step = measure.stepper(SMALL, batches=1)
    assert set(measure.interleaved({"rope": step}, rounds=1, each=1)) == {"rope"}


def test_a_peer_of_a_gpu():
    pytest.importorskip("transformers")
    assert float(str(gpu.peer("plain", "cpu", tiny=True)["tokens a second"])) > 0


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS)
def test_what_a_gpu_measures_of_training(experiment):
    row = gpu.step(experiment, "t5", "plain", "cpu", tiny=True)
    assert row is not None and row["kernel"] == "strided"
    assert float(str(row["tokens a second"])) > 0 and float(str(row["hours"])) > 0


def test_products_of_a_step_as_counted_by_hand():
    made = measure.job(gpu.words(gpu.BASE, "rope", tiny=True))
    assert made.training is not None
    model, batch = made.source.model(), gpu.share(made.training.batches[0], 0, 1)
    scored = int((batch.targets >= 0).sum())
    tokens, layers, C, T, V = batch.tokens.numel(), 2, 64, 64, len(model.embedding.weight)
    of_layers = 2 * (tokens * 12 * C * C) * layers
    of_pairs = 2 * (2 * tokens * T * C) * layers
    biases_and_norms = sum(p.numel() for p in model.blocks.parameters() if p.dim() == 1)
    by_hand = 3 * (of_layers + of_pairs + 2 * scored * V * C) + 6 * tokens * biases_and_norms
    assert gpu.products(model, batch) == by_hand


def test_what_a_gpu_measures_of_reading():
    found = gpu.read("rope", tiny=True, device="cpu")
    assert [row["tokens"] for row in found] == [128, 256]


def test_the_commit_of_a_table_is_that_of_the_code(tmp_path, monkeypatch):
    asked = ["git", "rev-parse", "--short=10", "HEAD"]
    here = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    monkeypatch.chdir(tmp_path)
    assert measure.commit() == here.stdout.strip()


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.subprocess
def test_the_script_measures_trains_is_killed_resumes_and_skips(tmp_path):
    """What a day with a GPU begins with, at toy size."""
    more = {"PYTHON": sys.executable, "KILLED_AFTER": "4", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        ["sh", ROOT / "benchmarks" / "gpu.sh", "--tiny", "rope"],
        cwd=tmp_path,
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    assert set(rows.read(tmp_path / "results" / "gpu-try")["scheme"]) == {"rope", "t5"}
