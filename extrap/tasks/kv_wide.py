"""Key-value retrieval with keys and values of several tokens, which has to bind tokens together:
extrap.data.wide.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Interval

from extrap.data.wide import WIDEST, WideForm
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import Multiples, Several


@dataclass(frozen=True, kw_only=True)
class KVWide(Grid):
    """Accuracy of whole values by length and depth, protocol records.

    Args:
        width: tokens of a key and of a value
        pool: key ids that keys are made of, both as in training

    The other options and the rows: extrap.tasks.scoring.retrieval.
    """

    name: ClassVar[str] = "kv-wide"
    inner: ClassVar[bool] = True

    multiples: Multiples = (1, 2, 4)
    width: Annotated[int, Interval(ge=1, le=WIDEST)] = 2
    pool: Several = 16

    def forms(self, vocabulary) -> dict[str, WideForm]:
        records = WideForm(self.width, self.pool)
        return {"records": records}
