"""The first steps of the configurations for GPUs, on a CPU: python -m benchmarks.first_steps
[--steps 20] [word ...]

reference/gpu, gpu-124m and cluster train as they are, but for what this machine lacks: one layer in
place of 6 and 12 (cluster: its smallest model), steps of two windows, no GPU; a replica of
FineWeb-Edu in its layout with torch's source as text; a tokenizer with as many ids as GPT-2's.
Prints losses and seconds of the wall.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import datasets
import huggingface_hub
import pandas as pd
import yaml
from tokenizers import Tokenizer

from benchmarks.measure import job, write
from extrap.data.corpora.torch import Torch
from extrap.runs.folder import read_json
from extrap.runs.train import train
from extrap.utils.paths import conf_dir

EXPERIMENTS = {"gpu": 512, "gpu-124m": 1024, "cluster": 1024}
GPT2 = 50257
HERE = ("trainer=cpu", "model.layers=1", "train.tokens=null", "train.log_every=5",
        "train.save_every=10")  # fmt: skip


def replica(folder: Path) -> None:
    """Writes a set in the layout of FineWeb-Edu, and makes it the hub's in this process."""
    (folder / "sample" / "10BT").mkdir(parents=True)
    rows = [{"text": text.decode(), "int_score": 3} for _, text in Torch().documents()]
    for n in range(2):
        table = pd.DataFrame(rows[n::2])
        table.to_parquet(folder / "sample" / "10BT" / f"{n:03}_00000.parquet")
    listed = [{"split": "train", "path": "sample/10BT/*"}]
    configs = {"configs": [{"config_name": "sample-10BT", "data_files": listed}]}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(configs)}---\n")
    load = datasets.load_dataset

    def info(self, name, **options):
        return huggingface_hub.hf_api.DatasetInfo(id=name, sha="1", downloads=0, likes=0, tags=[])

    def local(path, revision=None, **options):
        return load(str(folder) if path == "HuggingFaceFW/fineweb-edu" else path, **options)

    huggingface_hub.HfApi.dataset_info = info  # type: ignore[method-assign]
    datasets.load_dataset = local  # type: ignore[assignment]


def tokenizer(path: Path) -> None:
    """Writes the embedded tokenizer with as many ids as GPT-2 has."""
    prose = Path(conf_dir()).parent / "extrap" / "data" / "corpora" / "prose.json"
    made = Tokenizer.from_file(str(prose))
    made.add_tokens([f"<unused {n}>" for n in range(GPT2 - made.get_vocab_size())])
    made.save(str(path))


def first(name: str, steps: int, more: Iterable[str]) -> dict[str, object]:
    words = [f"experiment=reference/{name}", *HERE, f"train.steps={steps}"]
    words.append(f"data.tokens={2 * EXPERIMENTS[name]}")
    if name != "gpu":
        words.append("data.vocabulary.tokenizer=tokenizer.json")
    if name == "cluster":
        words += ["model.dim=64", "model.heads=4"]
    made = job([*words, *more])
    start = time.perf_counter()
    train(made)
    points = read_json(made.run.curve)["points"]
    return {
        "experiment": name,
        "parameters": made.source.params,
        "steps": made.run.state["steps"],
        "first loss": f"{points[0]['text/nll']:.2f}",
        "last loss": f"{points[-1]['text/nll']:.2f}",
        "s": f"{time.perf_counter() - start:.0f}",
    }


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.first_steps")
    command.add_argument("--steps", type=int, default=20)
    command.add_argument("word", nargs="*")
    given = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        replica(Path(folder, "set"))
        tokenizer(Path(folder, "tokenizer.json"))
        rows = [first(name, given.steps, given.word) for name in EXPERIMENTS]
        os.chdir("/")
    write("first_steps", rows)


if __name__ == "__main__":
    main()
