"""Key-value retrieval with the query after the records, before and after, or before alone: what does knowing the question help?

A causal reader that knows the question can mark the record as it goes by; Lost in the Middle found that a query before and after
the records mends retrieval altogether (arXiv 2307.03172, section 4.2). The three forms stand in data/query_forms.py, the same
records on the same slots. Asking a model that was trained on none of them is allowed; its rows are `not trained`.
"""

from collections.abc import Sequence

from extrap.data.trials.query import FORMS, QueryForm
from extrap.data.trials.keyvalue import DEPTHS
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.tasks.scoring.depth_grid import Grid


class KVQuery(Grid):
    """Accuracy by length and depth, a protocol for each of `ask`: last, both, first. Options and rows: extrap.tasks.scoring.depth_grid.

    An answer of `last` and `both` is the value; of `first` it is the key and the value, both of which have to be right.
    """

    name = "kv-query"

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4, 8),
        depths: Sequence[float] = DEPTHS,
        trials: int = 200,
        batch_tokens: int = 4096,
        ask: Sequence[str] = FORMS,
    ):
        super().__init__(multiples, depths, trials, batch_tokens)
        self.ask = ask

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        if not self.ask or not set(self.ask) <= set(FORMS) or len(set(self.ask)) < len(self.ask):
            raise UserError(f"task.kv-query.ask={list(self.ask)}: one or more of {', '.join(FORMS)}, each once")
        super().check(corpus, vocabulary, train_length)

    def forms(self) -> dict[str, QueryForm]:
        return {form: QueryForm(form) for form in self.ask}
