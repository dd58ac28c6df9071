"""The loss in blocks of positions beside the plain loss and torch's: python -m benchmarks.loss
[--layers 2]

A training step of model=base with a tied head (124 M parameters with its twelve layers) on windows
of 1024 tokens with 50257 ids. Peak memory: the greatest resident size of a process of its own for
each in the first step on 8 windows, without the size before the model. Time: processor time of one
thread on 2 windows, medians of interleaved rounds. torch: F.linear_cross_entropy in chunks, which
says neither the loss of each token nor whether it is right.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F

from benchmarks.measure import interleaved, stepper, write
from extrap.model import loss
from extrap.runs.training import lightning_module

WORDS = ("scheme=rope", "model=base", "model.head=tied", "data=text", "data.length=1024",
         "data.vocabulary.keys=49936")  # fmt: skip
KINDS = ("plain", "blocks", "torch")
BLOCK, BLOCKS = loss.LOGITS["cpu"], loss.scored


def of_torch(head, vocab, hidden, targets):
    """The signature of `scored`, by torch."""
    model = head.__self__
    options = torch.nn.LinearCrossEntropyOptions()
    weight, scale = model.embedding.weight, model.head_scale
    found = F.linear_cross_entropy(hidden * scale, weight, targets, options=options)
    return found, found.detach()[None], torch.ones(1)


def choose(kind: str) -> None:
    loss.LOGITS["cpu"] = 2**40 if kind == "plain" else BLOCK
    lightning_module.scored = of_torch if kind == "torch" else BLOCKS


def step(kind: str, layers: int, windows: int) -> Callable[[], None]:
    words = [*WORDS, f"model.layers={layers}", f"data.text.size={windows}"]
    made = stepper(words, batches=1)

    def chosen() -> None:
        choose(kind)
        made()

    return chosen


def peak(kind: str, layers: int) -> float:
    """Returns MB in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step(kind, layers, 8)()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def memory(kind: str, layers: int) -> float:
    """Returns MB in a process of its own."""
    words = ["-m", "benchmarks.loss", "--of", kind, "--layers", str(layers)]
    found = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[1], env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "1000000"},
    )  # fmt: skip
    return float(found.stdout.split()[-1])


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.loss")
    command.add_argument("--layers", type=int, default=2)
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--of", choices=KINDS)
    given = command.parse_args()
    torch.set_num_threads(1)
    if given.of:
        print(peak(given.of, given.layers))
        return
    found = {kind: memory(kind, given.layers) for kind in KINDS}
    calls = {kind: step(kind, given.layers, 2) for kind in KINDS}
    took = interleaved(calls, rounds=given.rounds, each=1)
    rows = [
        {"layers": given.layers, "loss": kind, "MB": f"{found[kind]:.0f}",
         "of plain memory": f"{found[kind] / found['plain']:.3f}", "s": f"{took[kind]:.2f}",
         "of plain time": f"{took[kind] / took['plain']:.3f}"}
        for kind in KINDS
    ]  # fmt: skip
    write("loss", rows)


if __name__ == "__main__":
    main()
