"""The first steps of the configurations for GPUs, on a CPU: python -m benchmarks.first_steps
[--steps 20] [--only gpu] [word ...]

reference/gpu, gpu-124m and cluster train for 20 steps of `train.tokens`, in bfloat16 autocast, and
are then read by their own tasks at their own lengths. What this machine lacks is replaced: the GPU
(`trainer=cpu`, without its processes that draw batches), steps of 96 windows by two, the text by a
replica of FineWeb-Edu in its layout with torch's source in it, the tokenizer by one with as many
ids as GPT-2's; gpu-124m has two of its twelve layers, cluster the smallest of its sizes. Tasks read
one document, and two trials at each length and depth. Prints losses, rows and seconds of the wall;
results/bench/first_steps.csv holds those of a whole run.
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
from extrap.results import rows
from extrap.runs import validate
from extrap.runs.evaluate import evaluate
from extrap.runs.folder import read_json
from extrap.runs.train import train
from extrap.utils.paths import conf_dir

EXPERIMENTS = {"gpu": 512, "gpu-124m": 1024, "cluster": 1024}
STEPS, GPT2 = 20, 50257
HERE = ("trainer=cpu", "trainer.precision=bf16-mixed", "train.save_every=10",
        "task.nll.documents=1", "task.kv.trials=2")  # fmt: skip
OWN = {
    "gpu": ("task.context-gain.documents=1",),
    "gpu-124m": ("model.layers=2", "data.vocabulary.tokenizer=tokenizer.json"),
    "cluster": ("model.dim=64", "model.layers=2", "model.heads=4",
                "data.vocabulary.tokenizer=tokenizer.json"),
}  # fmt: skip
"""What an experiment has here in place of its own; the sizes of cluster are those of its grid."""


def replica(folder: Path) -> None:
    """Writes a set in the layout of FineWeb-Edu, and makes it the hub's in this process."""
    (folder / "sample" / "10BT").mkdir(parents=True)
    pages = [{"text": text.decode(), "int_score": 3} for _, text in Torch().documents()]
    for n in range(2):
        table = pd.DataFrame(pages[n::2])
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
    tokens = 2 * EXPERIMENTS[name]
    given = [f"data.tokens={tokens}", f"train.tokens={steps * tokens}"]
    given.append(f"train.log_every={min(5, steps)}")
    made = job([f"experiment=reference/{name}", *HERE, *OWN[name], *given, *more])
    start = time.perf_counter()
    validate.check(made)
    train(made)
    evaluate(made)
    points = read_json(made.run.curve)["points"]
    counts = rows.read(made.results)["task"].value_counts(sort=False)
    return {
        "experiment": name,
        "parameters": made.source.params,
        "layers": made.config["model"]["layers"],
        "steps": made.run.state["steps"],
        "first loss": f"{points[0]['text/nll']:.2f}",
        "last loss": f"{points[-1]['text/nll']:.2f}",
        "rows": " ".join(f"{task} {n}" for task, n in counts.items()),
        "s": f"{time.perf_counter() - start:.0f}",
    }


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.first_steps")
    command.add_argument("--steps", type=int, default=STEPS)
    command.add_argument("--only", choices=EXPERIMENTS, action="append")
    command.add_argument("word", nargs="*")
    given = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        replica(Path(folder, "set"))
        tokenizer(Path(folder, "tokenizer.json"))
        found = [first(name, given.steps, given.word) for name in given.only or EXPERIMENTS]
        os.chdir("/")
    if given.only or given.word or given.steps != STEPS:
        print(*found, sep="\n")
    else:
        write("first_steps", found)


if __name__ == "__main__":
    main()
