"""Text to tokens beside the plain ways: python -m benchmarks.text [--mb 200]

Documents of drawn lines of torch's source, some 3 kB each, in one parquet file; the 2048
byte-pair tokens of data/vocabulary=prose. extrap: data/corpus=files, to its map of tokens and bytes
behind each. map: `datasets.map(num_proc=2)` over encode_batch, to Arrow. loop: encode_batch over
batches of 1000 documents, with the threads of tokenizers, to a file of ids. Each in a process of
its own, one after the other: seconds of the wall and of processors, greatest resident size of the
process, and ratios to extrap. The plain ways keep ids alone.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from extrap.data.corpora.files import Files
from extrap.data.corpora.torch import Torch
from extrap.data.tokenizer import Tokenized

TOKENIZER = Path(__file__).parents[1] / "extrap" / "data" / "corpora" / "prose.json"
WAYS = ("extrap", "map", "loop")


def written(path: Path, mb: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = b"\n".join(text for _, text in islice(Torch().documents(), 400))
    lines = [line for line in whole.decode().splitlines() if len(line) > 20]
    rng, size = np.random.default_rng(0), 0
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(path, schema) as file:
        while size < mb * 10**6:
            picked = rng.integers(len(lines), size=(500, 60))
            texts = ["\n".join(lines[i] for i in row) for row in picked]
            size += sum(map(len, texts))
            file.write_table(pa.table({"text": texts}, schema))


def extrap(path: Path, folder: Path) -> int:
    encoder = Tokenized(tokenizer=str(TOKENIZER)).encoder
    corpus = Files(path=str(path)).open(folder / "tokens", encoder)
    return sum(len(corpus.stream(split)) for split in corpus.maps)


def map_(path: Path, folder: Path) -> int:
    import datasets
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))

    def encode(batch):
        return {"ids": [found.ids for found in tokenizer.encode_batch(batch["text"])]}

    found = datasets.Dataset.from_parquet(str(path), cache_dir=str(folder))
    made = found.map(encode, batched=True, num_proc=2, remove_columns=["text"])
    return len(made.data.column("ids").combine_chunks().flatten())


def loop(path: Path, folder: Path) -> int:
    import pyarrow.parquet as pq
    from tokenizers import Tokenizer

    tokenizer, total = Tokenizer.from_file(str(TOKENIZER)), 0
    with open(folder / "ids.bin", "wb") as file:
        for batch in pq.ParquetFile(path).iter_batches(1000):
            for found in tokenizer.encode_batch(batch.column("text").to_pylist()):
                file.write(np.array(found.ids, "<u2").tobytes())
                total += len(found.ids)
    return total


def of(way: str, path: Path) -> dict[str, float]:
    """Returns what one way takes, in this process and its children."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        start = time.perf_counter()
        tokens = {"extrap": extrap, "map": map_, "loop": loop}[way](path, Path(folder))
        wall = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    return {"tokens": tokens, "wall": wall, "cpu": cpu, "MB": used[0].ru_maxrss / 1024}


def main() -> None:
    command = argparse.ArgumentParser(prog="benchmarks.text")
    command.add_argument("--mb", type=int, default=200)
    command.add_argument("--of", nargs=2)
    given = command.parse_args()
    if given.of:
        print(json.dumps(of(given.of[0], Path(given.of[1]))))
        return
    from benchmarks.measure import write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.parquet"
        written(path, given.mb)
        found = {}
        for way in WAYS:
            words = [sys.executable, "-m", "benchmarks.text", "--of", way, str(path)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found[way] = json.loads(done.stdout.splitlines()[-1])
    rows = [
        {"way": way, "MB of text": given.mb, "tokens": one["tokens"], "s": f"{one['wall']:.1f}",
         "processor s": f"{one['cpu']:.1f}", "MB": f"{one['MB']:.0f}",
         "of extrap's time": f"{one['wall'] / found['extrap']['wall']:.2f}",
         "of its processor time": f"{one['cpu'] / found['extrap']['cpu']:.2f}"}
        for way, one in found.items()
    ]  # fmt: skip
    write("text", rows)


if __name__ == "__main__":
    main()
