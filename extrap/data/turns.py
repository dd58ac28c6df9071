"""The turns of a dialogue: ids in front of a text, and ids between it and the answer."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Turns:
    """The place of a task's text in a dialogue: it is the turn of the user, and the query opens the
    answer.

    Args:
        before: ids in front of the text, BOS alone without a dialogue
        behind: ids that end the user's turn and begin the answer, none without
    """

    before: tuple[int, ...]
    behind: tuple[int, ...] = ()

    @property
    def extra(self) -> int:
        """Returns the tokens of the turns, BOS not counted."""
        return len(self.before) - 1 + len(self.behind)

    def around(self, ids: np.ndarray) -> np.ndarray:
        """Returns the ids (N,) int64 of a text without BOS in these turns."""
        return np.concatenate([self.before, ids, self.behind]).astype(np.int64)

    def laid(self, tokens: np.ndarray, tail: int) -> np.ndarray:
        """Returns texts (..., T), which begin with BOS, in these turns, (..., T + extra); the last
        `tail` tokens open the answer.
        """
        each = (*tokens.shape[:-1], 1)
        before = np.tile(np.array(self.before, np.int64), each)
        behind = np.tile(np.array(self.behind, np.int64), each)
        end = tokens.shape[-1] - tail
        text = tokens[..., 1:end]
        query = tokens[..., end:]
        return np.concatenate([before, text, behind, query], -1)
