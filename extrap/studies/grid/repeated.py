"""How much of the scored text stands in the training text: the share of all stretches of n bytes of
the validation split that occur in the training split, too, for n = 16, 32, 64.

python -m extrap.studies.grid.repeated [wikitext-2-test.txt]  -> results/grid/repeated.csv

It counts the embedded corpus, and the articles of the file as experiment=grid-text splits them.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.data.corpora.base import Corpus
from extrap.data.corpora.files import Files
from extrap.data.corpora.torch import Torch

SIZES = (16, 32, 64)


def stretches(documents: list[np.ndarray], n: int) -> np.ndarray:
    """Returns all stretches of n tokens, (N,) of n bytes each."""
    windows = []
    for document in documents:
        if len(document) >= n:
            text = document.astype(np.uint8)
            windows.append(np.lib.stride_tricks.sliding_window_view(text, n))
    every = np.ascontiguousarray(np.concatenate(windows))
    return every.view(f"V{n}")[:, 0]


def repeated(corpus: Corpus) -> dict[int, float]:
    """Returns the share of stretches of each size that both splits have."""
    train = corpus.documents("train")
    scored = corpus.documents("validation")
    found = {}
    for n in SIZES:
        again = np.isin(stretches(scored, n), stretches(train, n))
        found[n] = float(again.mean())
    return found


if __name__ == "__main__":
    sources = [Torch()] + [
        Files(path=path, begins="^ = [^=]", document_tokens=10**6) for path in sys.argv[1:]
    ]
    rows = []
    for source in sources:
        corpus = source.open()
        for n, share in repeated(corpus).items():
            rows.append({"corpus": corpus.name, "bytes": n, "repeated": round(share, 4)})
    pd.DataFrame(rows).to_csv(Path("results", "grid", "repeated.csv"), index=False)
