"""Multi-query associative recall: as training data and as a test.

    BOS  k v k v ... k v   . . k v . . . . k v . . k v . .     every key is asked once, `.` is noise

All keys stand first, each with a value; no key and no value of a sequence stands in two records.
Then every key comes once more, at an even distance 2 g from where the records end; the gaps g are
drawn without repetition, with probabilities p(g) ~ (g + 1)^(power - 1), g = 0, 1, ..: most
questions come soon, some late. The other tokens are noise from the whole vocabulary. The key of a
question can stand in the noise, too (in 1 % of questions at 64 tokens, 5 % at 160, 13 % at 512),
but its first place is always its record. Source: Zoology, arXiv 2312.04927, section 4. There no
value stands behind a question; here the value does, as in any text, and is scored. One sequence of
16 tokens, 3 records:

    <bos> k203 v30 k118 v7 k44 v61 k118 v7 k203 v30 q v19 k44 v61 k90
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.part import Drawn, Part
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Count, Fraction, at_most

CODE = 65  # begins the seeds of its draws; a part of others where theirs is the same


def check_pairs(option: str, vocabulary: Vocabulary, pairs: int, length: int) -> None:
    """Raises UserError if so many records and a question for each do not fit."""
    most = min((length - 1) // 4, vocabulary.keys, vocabulary.values)
    ids = f"data.vocabulary.keys={vocabulary.keys} and values={vocabulary.values}"
    at_most(f"{option}.pairs", pairs, most, f"with a question each, for {length} tokens, {ids}")


def draw_associations(
    context: Context, count: int, pairs: int, power: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draws `count` sequences of the length of the context, BOS among them, (n, length); and the
    slot of the key of each record when it comes again, (n, pairs). Answers stand one slot further.
    """
    rng, vocabulary, length = context.rng, context.vocabulary, context.length
    order = rng.random((count, vocabulary.keys)).argsort(1)
    keys = vocabulary.key(order[:, :pairs])
    values = context.distinct_values(count, pairs)
    told = 1 + 2 * pairs
    gaps = np.arange((length - told) // 2)
    # the largest of log p + Gumbel noise are a weighted draw without repetition, in its order
    noise = rng.gumbel(size=(count, len(gaps)))
    chances = (power - 1) * np.log1p(gaps) + noise
    gap = (-chances).argsort(1)[:, :pairs]
    asked = told + 2 * gap
    tokens = rng.integers(vocabulary.size, size=(count, length))
    tokens[:, 0] = vocabulary.bos
    tokens[:, 1:told:2] = keys
    tokens[:, 2:told:2] = values
    np.put_along_axis(tokens, asked, keys, 1)
    np.put_along_axis(tokens, asked + 1, values, 1)
    return tokens, asked


@dataclass(frozen=True, kw_only=True)
class MultiQuery(Part):
    """Training sequences of multi-query associative recall.

    Args:
        pairs: records of a sequence at most; each has from 1 to so many
        power: of the gaps between records and questions, 1: all gaps alike, near 0: soon
        size, weight: as of every part
    """

    pairs: Count = 8
    power: Fraction = 0.01

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        check_pairs(option, vocabulary, self.pairs, length + 1)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        """Draws the sequences of one step, which have one number of records."""
        pairs = int(context.rng.integers(1, self.pairs + 1))
        tokens, asked = draw_associations(context.shorter(-1), self.size, pairs, self.power)
        scored = np.zeros((self.size, context.length), bool)
        np.put_along_axis(scored, asked, True, 1)  # the answer is the token after
        return tokens, scored
