"""Key-value retrieval over a grid of length and depth: one record is asked for, at the end of the
context.

    records   the context is full of records: more length is more records and more distance
    padded    a fixed number of records (`pairs`) in running text: more length is distance alone

Depth is the place of the record asked for, 0 the first and 1 the last; the other records and the
filler are the same at every depth, so that differences between depths are paired. The sequences:
extrap.data.keyvalue. A published checkpoint is asked in words of its tokenizer, ` apple:
river` a line (extrap.pretrained.vocabulary). Source: arXiv 2307.03172.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.keyvalue import Padded, Records
from extrap.data.trials.base import Form
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class KV(Grid):
    """Accuracy by length and depth, in the protocols records and padded. An answer is one token, so
    that one forward is greedy decoding.

    Args:
        pairs: records of a padded context

    The other options and the rows: extrap.tasks.scoring.retrieval; both have the gate of records.
    """

    name: ClassVar[str] = "kv"
    words: ClassVar[bool] = True
    asks: ClassVar = "answers"
    gate: ClassVar[str] = "records"

    multiples: Multiples = (1, 1.25, 1.5, 2, 4, 8)
    pairs: Count = 8

    def forms(self, vocabulary: Vocabulary) -> dict[str, Form]:
        layout = vocabulary.layout
        records = Records(layout=layout)
        padded = Padded(self.pairs, layout=layout)
        return {"records": records, "padded": padded}
