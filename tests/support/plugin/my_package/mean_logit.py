"""The mean logit of what comes after one document. It says nothing, and is short."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from extrap import Result
from extrap.tasks.base import AtLengths
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class MeanLogit(AtLengths):
    """documents: counted from 0 up, as many as are read."""

    name: ClassVar[str] = "mean-logit"

    multiples: Multiples = (1, 2)
    documents: Count = 2

    def run(self, model, corpus, vocabulary, train_length, progress) -> Result:
        rows = []
        for length in self.lengths(train_length):
            tokens = torch.arange(self.documents * length).view(-1, length) % vocabulary.size
            value = float(model(tokens, last=1).mean())
            at = {"protocol": "mean", "length": length, "metric": "logit", "n": self.documents}
            rows.append(at | {"value": value, "status": "ok"})
        progress(1, 1)
        return Result(rows)
