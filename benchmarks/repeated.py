"""How much of the scored text stands in the training text, too: python -m benchmarks.repeated

Of the 64 validation documents of task nll, at lengths to 16 times 64 tokens, the scored bytes (1024
to 2047 of each) in stretches of 64 and of 128; it counts stretches that stand anywhere in the
training text. Half a minute, without a model.
"""

import numpy as np

from extrap.data.corpora.torch import Torch
from extrap.tasks.nll import NLL

BEGIN = 1024


def main() -> None:
    corpus = Torch(validation=0.1, smallest=1024).open()
    training = corpus.stream("train").astype(np.uint8).tobytes()
    scored = NLL().texts(corpus, 64)[0].astype(np.uint8)[:, BEGIN:]
    print(f"corpus {corpus.sha256[:12]}, {len(training)} bytes of training")
    for size in (64, 128):
        parts = [part.tobytes() for part in scored.reshape(-1, size)]
        print(f"{size} bytes: {sum(part in training for part in parts)} of {len(parts)}")


if __name__ == "__main__":
    main()
