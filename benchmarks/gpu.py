"""Training and reading on one GPU: python -m benchmarks.gpu [--tiny] [--compile] [scheme ...]

Training: a step of two experiments, reference/gpu (11 M parameters, 512 tokens) and
reference/gpu-124m (124 M, 1024), in bfloat16 autocast. For each scheme: milliseconds, tokens per
second, hours of the whole experiment, the kernel of attention (extrap/model/attention.py), the
ratio to RoPE, and the share of the peak of the device that the model's products take (6 N + 12 C T
a token and layer, arXiv 2204.02311, appendix B; and 6 C V for each token that the head scores).
Then reading one text, doubled up to 131072 tokens: seconds and peak memory. The text is the corpus
that comes with torch in bytes; as many keys as GPT-2 has tokens make the vocabulary as large.

`--tiny` is a small model, on a CPU too, and says nothing about speed; `--compile` trains what
torch.compile makes of the model, and writes gpu_step_compiled.csv.

Results: results/bench/gpu_step.csv and gpu_read.csv. Times are of the wall, after the device is
waited for: medians of ten steps, and of one reading, the second of its length.
"""

import argparse
import contextlib
import sys
import time
from statistics import median

import torch

from benchmarks.measure import job, write
from extrap.model.attention import kernel
from extrap.model.gpt import GPT
from extrap.runs.training.batch_shares import Share, share
from extrap.runs.training.lightning_module import Lit

PEAK = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12}
"""Dense bfloat16 products a second, from the makers' data sheets."""
SCHEMES = ("rope", "nope", "alibi", "t5", "kerple-log", "fire", "deberta", "transformer-xl", "cope")
LONGEST = 131072
BASE = "reference/gpu-124m"
EXPERIMENTS = ("reference/gpu", BASE)
TOY = ("model=tiny", "trainer=cpu", "data.length=64", "data.text.size=2", "data.retrieval.size=2")


def autocast(device: str):
    if device == "cpu":
        return contextlib.nullcontext()
    return torch.autocast(device, dtype=torch.bfloat16)


def waited(device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def words(experiment: str, scheme: str, tiny: bool) -> list[str]:
    """Returns the options of an experiment without what has to be fetched."""
    made = [f"experiment={experiment}", f"scheme={scheme}", "data/corpus=torch"]
    if experiment == BASE:
        made += [
            "data/vocabulary=bytes",
            "~data.vocabulary.tokenizer",
            "data.vocabulary.keys=50000",
        ]
    return [*made, *TOY] if tiny else made


def step(experiment: str, scheme: str, device: str, given: argparse.Namespace) -> dict[str, object]:
    """Returns what a training step costs, and hours of the experiment at that pace."""
    made = job(words(experiment, scheme, given.tiny))
    model, training = made.source.model().to(device), made.training
    assert training is not None
    lit = Lit(model, training.optim, training.batches.mixture.weights, given.compile)
    optimizer = lit.configure_optimizers()["optimizer"]
    batch = share(training.batches[0].to(device), 0, 1)
    times = []
    for t in range(13):
        start = waited(device)
        with autocast(device):
            loss = lit.training_step(batch, t)
        loss.backward()
        lit.configure_gradient_clipping(optimizer)
        optimizer.step()
        optimizer.zero_grad()
        times.append(waited(device) - start)
    seconds, tokens = median(times[3:]), batch.tokens.numel()
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    peak = next((value for part, value in PEAK.items() if part in name), None)
    return {
        "device": name,
        "experiment": experiment,
        "scheme": scheme,
        "kernel": kernel(model.scheme, model.where(batch.tokens)).__name__,
        "compiled": given.compile,
        "ms": f"{1e3 * seconds:.2f}",
        "tokens a second": f"{tokens / seconds:.0f}",
        "share of peak": "" if peak is None else f"{products(model, batch) / seconds / peak:.3f}",
        "hours": f"{training.optim.steps * seconds / 3600:.2f}",
    }


def products(model: GPT, batch: Share) -> float:
    """Returns the multiplications and additions of a training step."""
    N = sum(p.numel() for p in model.blocks.parameters())
    V, C = model.embedding.weight.shape
    scored = sum(len(at) for places in (batch.scored, batch.echoes) for at in places.values())
    T = batch.tokens.shape[1]
    return batch.tokens.numel() * (6 * N + 12 * len(model.blocks) * C * T) + 6 * V * C * scored


@torch.inference_mode()
def read(scheme: str, tiny: bool, device: str) -> list[dict[str, object]]:
    """Seconds and peak memory of reading one text, doubled in length until it no longer fits."""
    model, found = job(words(BASE, scheme, tiny)).source.model().to(device).eval(), []
    length = 128 if tiny else 4096
    while length <= (256 if tiny else LONGEST):
        x = torch.randint(256, (1, length), device=device)
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        try:
            with autocast(device):
                model(x, last=1)  # the first one sets up, and with FlexAttention compiles
                start = waited(device)
                model(x, last=1)
            seconds = waited(device) - start
        except (torch.OutOfMemoryError, ValueError) as error:  # no room, or past a table
            print(f"{scheme} at {length} tokens: {str(error).splitlines()[0]}", file=sys.stderr)
            break
        memory = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0
        row = {"scheme": scheme, "tokens": length, "seconds": f"{seconds:.3f}"}
        found.append(row | {"MB": f"{memory:.0f}"})
        length *= 2
    return found


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.gpu")
    command.add_argument("--tiny", action="store_true")
    command.add_argument("--compile", action="store_true")
    command.add_argument("scheme", nargs="*", default=SCHEMES)
    given = command.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not given.tiny:
        raise SystemExit("benchmarks.gpu: no GPU here; --tiny tries the script on a CPU")
    rows = []
    for experiment in EXPERIMENTS:
        steps = [step(experiment, scheme, device, given) for scheme in given.scheme]
        first = float(str(steps[0]["ms"]))
        rows += [row | {"ratio": f"{float(str(row['ms'])) / first:.2f}"} for row in steps]
    texts = [row for scheme in given.scheme for row in read(scheme, given.tiny, device)]
    if given.tiny:
        print(*rows, *texts, sep="\n")
        return
    write("gpu_step_compiled" if given.compile else "gpu_step", rows)
    write("gpu_read", texts)


if __name__ == "__main__":
    main()
