"""The curriculum of training data: each part is easy until it is learned, then turns hard.

A part of a mixture that has a curriculum (`Graded`) begins with easy sequences. It leaves them at
the step `switch`: as soon as its running accuracy reaches `accuracy`, at the latest after the share
`latest` of all steps. From there on the difficulty of its sequences rises linearly from 0 to 1 over
the share `ramp` of all steps, and stays; a part that was learned gives most of its weight in the
loss to the others as it does. The number of steps is the same for every model, so that
all of them see as much text; how early a part switches is a result.

What a step sees is a pure function of (seed, phase, step in the phase): two models that switch at
different steps meet the same easy and the same hard sequences, and a resumed run the same again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from extrap.data.part import Part
from extrap.utils.bounds import Fraction, Share

EVERY = 10
"""A switch is decided at multiples of so many steps and takes effect as many steps later, because
the batches in between may have been drawn already."""
MEMORY = 0.9
"""Weight of the past in the running accuracy, per step."""


@dataclass(frozen=True, kw_only=True)
class Curriculum:
    """The steps at which a part turns from easy to hard.

    Args:
        accuracy: running training accuracy that ends the easy phase; null: no accuracy ends it
        latest: share of all steps after which it ends at the latest
        ramp: share of all steps over which the difficulty rises from 0 to 1
        kept: share of its weight in the loss that a learned part has at difficulty 1, so that the
            text, which takes longer, has most of the gradient from then on
    """

    accuracy: Fraction | None = 0.95
    latest: Share = 0.65
    ramp: Share = 0.12
    kept: Fraction = 0.25

    def difficulty(self, step: int, switch: int, steps: int) -> float:
        """Returns the difficulty, in [0, 1], of the sequences of a step, for a part that switches
        at `switch`.
        """
        if step < switch:
            return 0.0
        ramp = self.ramp * steps
        return 1.0 if ramp == 0 else min(1.0, (step - switch) / ramp)

    def weight(self, difficulty: float) -> float:
        """Returns the share of its weight in the loss that a learned part keeps."""
        return 1 - (1 - self.kept) * difficulty


class Switches:
    """The state of a curriculum: the step at which each part switches, as far as it is known.

    `update` is called after every step with the accuracy of each part in it. `at(part)` works for
    any part; before the part has switched, it is the last possible step. decided: the steps of the
    parts that switch because they were learned, and not because time was up.
    """

    def __init__(self, curriculum: Curriculum, steps: int, parts: Iterable[str]):
        self.accuracy = curriculum.accuracy
        self.last = round(curriculum.latest * steps)  # of a part that has learned nothing
        self.running = dict.fromkeys(parts, 0.0)
        self.decided: dict[str, int] = {}

    def at(self, part: str) -> int:
        return self.decided.get(part, self.last)

    @property
    def waiting(self) -> list[str]:
        """Returns the easy parts that an accuracy can still switch."""
        if self.accuracy is None:
            return []
        return [part for part in self.running if part not in self.decided]

    def update(self, step: int, accuracies: Mapping[str, float]) -> None:
        """Takes the accuracies of the waiting parts after `step` steps."""
        for part in self.waiting:
            running = MEMORY * self.running[part] + (1 - MEMORY) * accuracies[part]
            self.running[part] = running
            learned = self.accuracy is not None and running >= self.accuracy
            if step % EVERY == 0 and learned and step + EVERY < self.last:
                self.decided[part] = step + EVERY

    def state_dict(self) -> dict[str, dict[str, float]]:
        return {"running": dict(self.running), "decided": dict(self.decided)}

    def load_state_dict(self, state: Mapping[str, Mapping[str, float]]) -> None:
        self.running = {part: float(value) for part, value in state["running"].items()}
        self.decided = {part: int(step) for part, step in state["decided"].items()}


@dataclass(frozen=True, kw_only=True)
class Graded(Part):
    """A part whose sequences are easy or hard, by the `difficulty` of `draw`."""


def counts(
    rng: np.random.Generator, size: int, fewest: int, most: int, difficulty: float
) -> np.ndarray:
    """Draws `size` whole numbers in [fewest, most]: uniform with probability `difficulty`, else
    log-uniform; fewest >= 1.
    """
    low = np.log(fewest)
    high = np.log(most + 1)
    easy = np.exp(rng.uniform(low, high, size)).astype(np.int64)
    easy = easy.clip(fewest, most)
    hard = rng.integers(fewest, most + 1, size)
    return np.where(rng.random(size) < difficulty, hard, easy)
