"""Induction: a pair `a b` stands once in random letters, and `a` comes again at the end."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from extrap import AtLengths, Count, Model, Multiples, Progress, Recorder, Result, Setting, hits


@dataclass(frozen=True, kw_only=True)
class Induction(AtLengths):
    """The task that repeats a letter and asks for the letter that followed it.

    Args:
        multiples: lengths over the training length, 1 among them
        trials: contexts of each length

    Rows: accuracy, loss (nats) of b, and gate, below 0.9 of which all rows are `not trained`.
    """

    name: ClassVar[str] = "induction"  # the name of the YAML
    needs_one: ClassVar[str] = "the run learned it"  # 1 must be among the multiples

    multiples: Multiples = (1, 2, 4)
    trials: Count = 50

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        recorder, lengths = Recorder(), self.lengths(setting.length)
        for length in lengths:
            rng = np.random.default_rng((0, length))  # every run reads the same contexts
            tokens = rng.integers(97, 122, size=(self.trials, length))
            tokens[:, 0] = setting.vocabulary.bos
            place, rows = rng.integers(1, length - 2, self.trials), np.arange(self.trials)
            tokens[rows, place] = tokens[:, -1] = ord("z")
            answers = tokens[rows, place + 1]
            # an extension may refuse a length: its rows are then left out
            with recorder.at(protocol="pair", length=length).within_range() as cell:
                log_p = model(torch.from_numpy(tokens), last=1)[:, -1].log_softmax(-1).cpu()
                right = hits(log_p, answers)  # 1, 0, or nan for logits that are no numbers
                cell.proportion("accuracy", right)
                cell.scores("accuracy", right)  # of each trial, for `extrap compare`
                cell.mean("loss", -log_p[rows, answers])
                if length == setting.length:
                    cell.share("gate", right[:, None])
            progress(length, lengths[-1])
        return recorder.by_gate()
