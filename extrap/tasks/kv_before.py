"""Key-value retrieval of the token before the key, and of the token after it: anti-induction
and induction. arXiv 2505.21785.

    after     records `k v`, the same questions as records of extrap.tasks.kv
    before    the same records as `v k` on the same slots (extrap.data.keyvalue)

Pretrained models are better at what stands after; the paper's theory says that both go on with
length alike once they are learned.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.keyvalue import Records, ValueFirst
from extrap.data.trials.base import Form
from extrap.tasks.scoring.retrieval import Grid


@dataclass(frozen=True, kw_only=True)
class KVBefore(Grid):
    """Accuracy by length and depth in the protocols after and before, each with a gate of its own.
    Options and rows: extrap.tasks.scoring.retrieval.
    """

    name: ClassVar[str] = "kv-before"

    def forms(self, vocabulary) -> dict[str, Form]:
        before = Records(layout=ValueFirst())
        return {"after": Records(), "before": before}
