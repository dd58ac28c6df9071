"""What each scheme adds to a training step and to reading, beside RoPE, as ratios: python
benchmarks/tax.py [scheme ...]

Width 128, 4 layers, 4 heads: training steps of 4096 tokens at 256 and at 1024 tokens a window,
reading 1024 tokens without gradients. One thread, processor time, medians of interleaved rounds.
"""

import sys
from pathlib import Path

import torch

from benchmarks.measure import interleaved, job, stepper, write
from extrap.utils.paths import conf_dir

MODEL = ("model.dim=128", "model.layers=4", "data=text")
TRAINED = {256: 16, 1024: 4}
READ = 1024


def reader(words: list[str]):
    made = job(words)
    torch.manual_seed(0)
    model = made.source.model().eval()
    x = torch.randint(256, (1, READ))

    @torch.inference_mode()
    def read() -> None:
        model(x)

    return read


def main() -> None:
    torch.set_num_threads(1)
    every = sorted(path.stem for path in (Path(conf_dir()) / "scheme").glob("*.yaml"))
    rows = []
    for scheme in sys.argv[1:] or every:
        row: dict[str, object] = {"scheme": scheme}
        names = {"rope": "rope", scheme: scheme}
        for length, size in TRAINED.items():
            shape = [*MODEL, f"data.length={length}", f"data.text.size={size}"]
            calls = {n: stepper([f"scheme={n}", *shape], batches=1) for n in names}
            took = interleaved(calls, rounds=3, each=1)
            row[f"training at {length}"] = f"{took[scheme] / took['rope']:.2f}"
        shape = [*MODEL, f"data.length={READ}", "data.text.size=1"]
        took = interleaved({n: reader([f"scheme={n}", *shape]) for n in names}, rounds=5, each=1)
        row[f"reading {READ}"] = f"{took[scheme] / took['rope']:.2f}"
        rows.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    write("tax", rows)


if __name__ == "__main__":
    main()
