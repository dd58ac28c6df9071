"""Retrieval by another name of the record: without literal overlap.

    literal            by the name itself
    one-hop            by its alias, which training taught
    two-hops           by the alias of the alias
    two-hops-unseen    the same for names that training never asked for in this way: the model has
                       to combine two facts and the record

The record moves through the context; the others stay. Sequences: extrap.data.alias. Source: NoLiMa,
arXiv 2502.05167, in miniature.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.alias import KINDS, AliasForm, Kind
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import Multiples, OneOrMore


@dataclass(frozen=True, kw_only=True)
class AliasRetrieval(Grid):
    """Accuracy by length and depth, a protocol for each of `ask` with a gate of its own.

    Args:
        ask: by which name

    The other options and the rows: extrap.tasks.scoring.retrieval. guess = 1/k + (1 - 1/k) / values
    with k records, of whoever knows no alias; chance = 1 / values. Items: accuracy of each trial.
    """

    name: ClassVar[str] = "alias"

    multiples: Multiples = (1, 2)
    ask: OneOrMore[Kind] = KINDS

    def forms(self, vocabulary) -> dict[str, AliasForm]:
        return {kind: AliasForm(kind) for kind in self.ask}
