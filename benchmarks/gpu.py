"""Training and reading on one GPU: python -m benchmarks.gpu [--tiny] [--compile] [scheme ...]

124 M parameters (model=base), windows of 1024 tokens, bfloat16 autocast: milliseconds of a step,
the kernel of attention (extrap/model/attention.py), the ratio to RoPE, and the share of the peak of
the device that the model's products take (6 N + 12 C T a token and layer, arXiv 2204.02311,
appendix B). Then reading one text, doubled up to 131072 tokens: seconds and peak memory. `--tiny`
is a small model, on a CPU too, and says nothing about speed; `--compile` trains what torch.compile
makes of the model, and writes gpu_step_compiled.csv.

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
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit

PEAK = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12}
"""Dense bfloat16 products a second, from the makers' data sheets."""
SCHEMES = ("rope", "nope", "alibi", "t5", "kerple-log", "fire", "deberta", "transformer-xl", "cope")
LONGEST = 131072


def autocast(device: str):
    if device == "cpu":
        return contextlib.nullcontext()
    return torch.autocast(device, dtype=torch.bfloat16)


def waited(device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def words(scheme: str, tiny: bool) -> list[str]:
    length, size = (64, 2) if tiny else (1024, 16)
    model = "tiny" if tiny else "base"
    return [f"scheme={scheme}", f"model={model}", "data=text", f"data.length={length}",
            f"data.text.size={size}"]  # fmt: skip


def step(scheme: str, tiny: bool, device: str, compiled: bool) -> dict[str, object]:
    """Seconds of a training step, and what share of the device's peak its products take."""
    made = job(words(scheme, tiny))
    model, training = made.source.model().to(device), made.training
    lit = Lit(model, training.optim, training.batches.mixture.weights, compiled)
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
    blocks = lit.model.blocks
    N = sum(p.numel() for p in blocks.parameters())
    C, T = lit.model.embedding.weight.shape[1], batch.tokens.shape[1]
    seconds = median(times[3:])
    flops = batch.tokens.numel() * (6 * N + 12 * len(blocks) * C * T)
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    peak = next((value for part, value in PEAK.items() if part in name), None)
    share = "" if peak is None else f"{flops / seconds / peak:.3f}"
    tier = kernel(lit.model.scheme, lit.model.where(batch.tokens)).__name__
    about: dict[str, object] = {
        "device": name,
        "scheme": scheme,
        "kernel": tier,
        "compiled": compiled,
    }
    return about | {"ms": f"{1e3 * seconds:.2f}", "share of peak": share}


@torch.inference_mode()
def read(scheme: str, tiny: bool, device: str) -> list[dict[str, object]]:
    """Seconds and peak memory of reading one text, doubled in length until it no longer fits."""
    model, found = job(words(scheme, tiny)).source.model().to(device).eval(), []
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
    steps = [step(scheme, given.tiny, device, given.compile) for scheme in given.scheme]
    first = float(str(steps[0]["ms"]))
    rows = [row | {"ratio": f"{float(str(row['ms'])) / first:.2f}"} for row in steps]
    texts = [row for scheme in given.scheme for row in read(scheme, given.tiny, device)]
    if given.tiny:
        print(*rows, *texts, sep="\n")
        return
    write("gpu_step_compiled" if given.compile else "gpu_step", rows)
    write("gpu_read", texts)


if __name__ == "__main__":
    main()
