"""Key-value retrieval with the query after the records, before and after, or before alone: what
does knowing the question help?

A causal reader that knows the question can mark the record as it goes by; Lost in the Middle found
that a query before and after the records mends retrieval altogether (arXiv 2307.03172, section
4.2). The three forms stand in extrap.data.query, the same records on the same slots. Asking
a model that was trained on none of them is allowed; its rows are `not trained`.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from extrap.data.query import FORMS, QueryForm
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import OneOrMore


@dataclass(frozen=True, kw_only=True)
class KVQuery(Grid):
    """Accuracy by length and depth, a protocol for each of `ask`.

    Args:
        ask: places of the query: last, both or first

    Other options and rows: extrap.tasks.scoring.retrieval. The answer of `last` and `both` is the
    value. The answer of `first` is the key and the value, both of which have to be right.
    """

    name: ClassVar[str] = "kv-query"
    inner: ClassVar[bool] = True

    ask: OneOrMore[Literal["last", "both", "first"]] = FORMS

    def forms(self, vocabulary) -> dict[str, QueryForm]:
        return {form: QueryForm(form) for form in self.ask}
