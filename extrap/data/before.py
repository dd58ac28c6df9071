"""Records with the value in front of the key, so that the answer is the token before the key: as
training data and as a test. arXiv 2505.21785.

    BOS  [filler and n records v k]  k v  k v  k v ...      training
    BOS  v k  v k ... V K ... v k  K                        test; the answer is V

An induction head finds the key and reads the token after it, which is here the value of the next
record; anti-induction reads the token before it. Keys are unique, and so is each answer. Slots,
draws and protocols come from extrap.data.keyvalue. One sequence of 16 tokens:

    <bos> v53 k70 v22 k38 v40 k153 v26 k161 k153 v40 k153 v40 k70 v53 k70
"""

from dataclasses import dataclass, field

import numpy as np

from extrap.data.keyvalue import KeyValue, Records
from extrap.data.vocabulary import RecordLayout


class BeforeKey(KeyValue):
    """Training sequences of records `v k`; options: extrap.data.keyvalue.KeyValue. Echoes, too, are
    `v k v k`, where the second value is scored.
    """

    def written(self, records: np.ndarray) -> np.ndarray:
        return records[:, ::-1]


class ValueFirst(RecordLayout):
    """Records `v k` and queries `k`."""

    def records(self, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        return super().records(keys, values)[..., ::-1]


@dataclass(frozen=True)
class RecordsBefore(Records):
    """As many records `v k` as fit; depth and draws as in Records."""

    layout: RecordLayout = field(default=ValueFirst(), kw_only=True)
