"""Training and reading on one GPU: python -m benchmarks.gpu [option ...] [scheme ...]

Training: a step of two experiments, reference/gpu (11 M parameters, 512 tokens) and
reference/gpu-124m (124 M, 1024), in bfloat16 autocast, each in several ways: plain; flex, with the
kernel of extrap/model/flex.py where it serves the scheme; compiled, what torch.compile makes of the
model. A step that does not fit is tried again with every layer computed twice (`recomputed`). For
each: milliseconds, tokens per second, peak memory, hours of the whole experiment, the kernel of
attention (extrap/model/attention.py), the ratio to the first scheme, and the share of the peak of
the device that the model's products take (6 N + 12 C T a token and layer, arXiv 2204.02311,
appendix B; and 6 C V for each token that the head scores). The peer is the GPT-2 of transformers
with 124 M parameters on 32 windows, all of whose tokens are scored.
Then reading one text, doubled up to 131072 tokens: seconds and peak memory. The text is the corpus
that comes with torch in bytes; as many keys as GPT-2 has tokens make the vocabulary as large.

`--tiny` is a small model, on a CPU too, and says nothing about speed; `--profile` prints where a
step of the first scheme spends its time, and measures nothing else.

Results: results/bench/gpu_step.csv and gpu_read.csv. Times are of the wall, after the device is
waited for: medians of ten steps, and of one reading, the second of its length.
"""

import argparse
import contextlib
import gc
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from statistics import median

import torch

from benchmarks.measure import job, write
from extrap.model import flex
from extrap.model.attention import flexible, kernel
from extrap.runs.training.batch_shares import Share, share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.meter import products

PEAK = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12}
"""Dense bfloat16 products a second, from the makers' data sheets."""
SCHEMES = ("rope", "nope", "alibi", "t5", "kerple-log", "fire", "deberta", "transformer-xl", "cope")
WAYS = ("plain", "flex", "compiled")
LONGEST = 131072
BASE = "reference/gpu-124m"
EXPERIMENTS = ("reference/gpu", BASE)
Row = dict[str, object]
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


def step(experiment: str, scheme: str, way: str, device: str, tiny: bool) -> Row | None:
    """Returns what a training step costs, and hours of the experiment at that pace; None if the
    way makes no difference to this scheme.
    """
    flex.DEVICES = ("cuda",) if way == "flex" else ()
    made = job(words(experiment, scheme, tiny))
    model, training = made.source.model().to(device), made.training
    assert training is not None
    batch = share(training.batches[0].to(device), 0, 1)
    where = model.where(batch.tokens)
    chosen = [kernel(model.scheme, where.at_layer(n, where.x)) for n in range(len(model.blocks))]
    if way == "flex" and flexible not in chosen:
        return None
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    row: Row = {"device": name, "experiment": experiment, "scheme": scheme, "way": way}
    row["kernel"] = chosen[-1].__name__
    for recomputed in (False, True):
        row["recomputed"] = recomputed
        lit = Lit(
            model, training.optim, training.batches.mixture.weights, way == "compiled", recomputed
        )
        try:
            seconds, memory = timed(stepper(lit, batch, device), device)
        except torch.OutOfMemoryError:
            model.zero_grad()
            torch.cuda.empty_cache()
            continue
        taken = products(model, batch) / seconds
        return row | costs(name, seconds, memory, batch.tokens.numel(), taken, training.optim.steps)
    return row | dict.fromkeys(costs(name, 1, 0, 1, 1, 1), "")


def stepper(lit: Lit, batch: Share, device: str) -> Callable[[int], None]:
    """Returns one training step: loss, backward, clipping, optimiser."""
    optimizer = lit.configure_optimizers()["optimizer"]

    def once(t: int) -> None:
        with autocast(device):
            loss = lit.training_step(batch, t)
        loss.backward()
        lit.configure_gradient_clipping(optimizer)
        optimizer.step()
        optimizer.zero_grad()

    return once


def timed(once: Callable[[int], None], device: str) -> tuple[float, float]:
    """Returns the median seconds of ten steps after three, and the most bytes held."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    for t in range(13):
        start = waited(device)
        once(t)
        times.append(waited(device) - start)
    memory = torch.cuda.max_memory_allocated() if device == "cuda" else 0
    return median(times[3:]), memory


def costs(name: str, seconds: float, memory: float, tokens: int, taken: float, steps: int) -> Row:
    """Returns the columns of a measured step; taken: operations a second."""
    peak = next((value for part, value in PEAK.items() if part in name), None)
    return {
        "ms": f"{1e3 * seconds:.2f}",
        "tokens a second": f"{tokens / seconds:.0f}",
        "share of peak": "" if peak is None else f"{taken / peak:.3f}",
        "MB": f"{memory / 2**20:.0f}",
        "hours": f"{steps * seconds / 3600:.2f}",
    }


def peer(way: str, device: str, tiny: bool) -> Row:
    """Returns what a step of transformers' GPT-2 costs, on text of as many tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_layer": 2, "n_embd": 64, "n_head": 2, "vocab_size": 300} if tiny else {}
    no_dropout = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    model = GPT2LMHeadModel(GPT2Config(**sizes, **no_dropout)).to(device)
    called = torch.compile(model) if way == "compiled" else model
    B, T = (2, 64) if tiny else (32, 1024)
    tokens = torch.randint(model.config.vocab_size, (B, T), device=device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, fused=True)

    def once(t: int) -> None:
        with autocast(device):
            loss = called(tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    seconds, memory = timed(once, device)
    N = sum(p.numel() for p in model.parameters()) - model.transformer.wpe.weight.numel()
    layers, C = model.config.n_layer, model.config.n_embd
    taken = B * T * (6 * N + 12 * layers * C * T) / seconds
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    row: Row = {"device": name, "experiment": BASE, "scheme": "transformers GPT-2", "way": way}
    row |= {"kernel": "sdpa", "recomputed": False}
    return row | costs(name, seconds, memory, B * T, taken, 2 * 10**9 // (B * T))


def profiled(experiment: str, scheme: str, device: str, tiny: bool) -> None:
    """Prints where a step spends its time."""
    from torch.profiler import ProfilerActivity, profile

    made = job(words(experiment, scheme, tiny))
    model, training = made.source.model().to(device), made.training
    assert training is not None
    lit = Lit(model, training.optim, training.batches.mixture.weights)
    once = stepper(lit, share(training.batches[0].to(device), 0, 1), device)
    for t in range(3):
        once(t)
    start = waited(device)
    once(3)
    plain = waited(device) - start
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        once(3)
        waited(device)
    print(f"{experiment}: a step of {scheme} takes {1e3 * plain:.1f} ms where nobody looks")
    order = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
    print(seen.key_averages().table(sort_by=order, row_limit=20, max_name_column_width=60))


@torch.inference_mode()
def read(scheme: str, tiny: bool, device: str) -> list[Row]:
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


def measured(given: argparse.Namespace, device: str) -> Iterator[Row]:
    """Rows of training, with the ratio to the first scheme in the same way."""
    for experiment in EXPERIMENTS:
        for way in given.ways:
            first = None
            if experiment == BASE and way != "flex" and find_spec("transformers"):
                yield peer(way, device, given.tiny) | {"ratio": ""}
            for scheme in given.scheme:
                row = step(experiment, scheme, way, device, given.tiny)
                gc.collect()  # a model of the step before
                if row is None:
                    continue
                ms = float(str(row["ms"]) or "nan")
                first = ms if first is None else first
                yield row | {"ratio": f"{ms / first:.2f}"}


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.gpu")
    command.add_argument("--tiny", action="store_true")
    command.add_argument("--profile", action="store_true")
    command.add_argument("--ways", type=lambda names: names.split(","), default=WAYS)
    command.add_argument("scheme", nargs="*", default=SCHEMES)
    given = command.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not given.tiny:
        raise SystemExit("benchmarks.gpu: no GPU here; --tiny tries the script on a CPU")
    if given.profile:
        for experiment in EXPERIMENTS:
            profiled(experiment, given.scheme[0], device, given.tiny)
        return
    texts = (row for scheme in given.scheme for row in read(scheme, given.tiny, device))
    for name, found in (("gpu_step", measured(given, device)), ("gpu_read", texts)):
        rows = list[Row]()
        try:
            for row in found:
                print(*row.values(), flush=True)
                rows.append(row)
        finally:  # an interrupted command keeps what it measured
            if rows and not given.tiny:
                write(name, rows)


if __name__ == "__main__":
    main()
