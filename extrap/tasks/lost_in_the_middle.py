"""Key-value retrieval in the format of the paper that named it: JSON records as text, the gold one
moved through them.

    last    the question stands behind the records
    both    in front of them as well (query-aware contextualisation)
    first   in front of them alone

Records are read from the published files (extrap.data.trials.published) or generated; their
prompts: extrap.data.trials.json_prompt. Source: arXiv 2307.03172, whose score is `substring`. Text
is read as the vocabulary reads it; in bytes, a record of two UUIDs is 80 tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval, MinLen

from extrap.data.trials.checksum import checksum
from extrap.data.trials.json_prompt import UUID, Example, Query, generate, most
from extrap.data.trials.published import read
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Counter, Model, Progress, Result, Task
from extrap.tasks.scoring.multi_token import exact, greedy
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Different, Share
from extrap.utils.errors import UserError

# behind the colon of the prompt, so that `accuracy` is about the value and not about how it is
# introduced
OPENING = ' "'


@dataclass(frozen=True, kw_only=True)
class LostInTheMiddle(Task):
    """Accuracy by index of the record asked for and number of records.

    path: a jsonl or jsonl.gz file in the published format, null for generated records; pairs:
    numbers of records that are generated, 1 is the gold record alone; characters: of generated keys
    and values, the first of a UUID; seed: of generated records; depths: of the gold record, its
    index over the last, or indices: these very ones; query: forms of the prompt; trials: examples,
    of a file the first; generate: tokens decoded after the prompt for `substring` and `format`, 0
    leaves these out; batch_tokens: tokens per forward, which changes speed and memory only. Rows
    have the number of records as axis `records` and the tokens of the longest prompt and answer as
    length. Metrics:

    accuracy    is the value, in all its bytes, what greedy decoding says behind the prompt and an
                opening quotation mark
    substring   does the text decoded behind the prompt contain the value, in any case
    format      does it contain any value of the context: what tells an answer of the wrong form
                from a wrong answer
    guess       expected accuracy of naming the value of a record at random, 1 / records
    primacy, recency, u_depth, tilt, mid    as in extrap.tasks.kv, where the depths allow
    gate        mean accuracy over `depths` of the most records that fit into the training length:
                the largest number asked for that does, else the same examples with as many of their
                records as fit, at least two. Below 0.9 the rows of the form have the status `not
                trained`, and where no two records fit, too: without a gate nothing shows that the
                form was ever learned, so that a low accuracy says nothing about length
    """

    name: ClassVar[str] = "lost-in-the-middle"

    path: str | None = None
    pairs: Annotated[Sequence[Count], MinLen(1), Different()] = (1, 2, 4)
    characters: Annotated[int, Interval(ge=1, le=UUID)] = 36
    depths: Annotated[Sequence[Share], MinLen(1)] = (0, 0.5, 1)
    indices: Annotated[Sequence[Annotated[int, Ge(0)]], MinLen(1)] | None = None
    query: Annotated[Sequence[Query], MinLen(1), Different()] = ("last", "both")
    trials: Count = 20
    generate: Annotated[int, Ge(0)] = 40
    seed: Annotated[int, Ge(0)] = 0
    batch_tokens: Count = 8192

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        option = "task.lost-in-the-middle"
        if self.path is None:
            if (ids := most(self.characters)) < max(self.pairs):
                raise UserError(
                    self.option("pairs"),
                    problem=f"{self.option('characters')} makes ids for only {ids} records",
                    remedy="give more characters, or fewer pairs",
                )
            fewest, longest = min(self.pairs), self.characters
        else:
            (examples,) = self._examples()
            fewest = len(examples[0].values)
            longest = max(len(value.encode()) for e in examples for value in e.values)
        if self.generate and self.generate < (least := len(OPENING) + longest):
            raise UserError(
                self.option("generate"),
                problem=f"the opening and the longest value are {least} bytes",
                remedy=f"give at least {least}, or 0 to leave substring and format out",
            )
        if self.indices is not None and max(self.indices) >= fewest:
            raise UserError(
                f"{option}.indices",
                list(self.indices),
                f"expected indices from 0 to {fewest - 1}, for {fewest} records",
                "give smaller ones, or null to use depths",
            )

    def _examples(self) -> list[list[Example]]:
        """Sets of examples with one number of records each."""
        if self.path is not None:
            return [read("task.lost-in-the-middle.path", self.path, self.trials)]
        return [
            [generate(k, self.characters, self.seed, i) for i in range(self.trials)]
            for k in sorted(self.pairs)
        ]

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        sets = self._examples()
        plan: list[tuple[list[Example], Query]] = [
            (examples, query) for examples in sets for query in self.query
        ]
        cost = [len(examples) * sum(len(v) for v in examples[0].values) for examples, _ in plan]
        recorder, counter, gates = Recorder(), Counter(progress, sum(cost)), {}
        for at, (examples, query) in enumerate(plan):
            cells = recorder.at(**_where(examples, query, vocabulary))

            def share_done(share: float, at: int = at) -> None:
                counter.up_to(sum(cost[:at]) + round(share * cost[at]))

            with cells.within_range() as part:
                correct = self._curve(part, examples, query, model, vocabulary, share_done)
                # one record alone is found by whoever copies what is there
                if cells.where["length"] <= train_length and len(examples[0].values) > 1:
                    gates[query] = cells, examples, correct if self.indices is None else None
            counter.up_to(sum(cost[: at + 1]))
        several = next((one for one in sets if len(one[0].values) > 1), sets[0])
        for query in self.query:
            if query not in gates and (
                fewer := self._fewer(several, query, train_length, vocabulary)
            ):
                gates[query] = recorder.at(**_where(fewer, query, vocabulary)), fewer, None
        for query, (cells, examples, known) in gates.items():
            alone = known is None
            with cells.within_range() as part:
                part.share(
                    "gate",
                    self._accuracy_alone(examples, query, model, vocabulary) if alone else known,
                )
        return recorder.by_gate()

    @staticmethod
    def _fewer(
        examples: list[Example], query: Query, train_length: int, vocabulary: Vocabulary
    ) -> list[Example]:
        """The examples with as many of their records as fit into the training length; none where no
        two do.
        """
        found: list[Example] = []
        for records in range(2, len(examples[0].values)):
            fewer = [example.first(records) for example in examples]
            if _where(fewer, query, vocabulary)["length"] > train_length:
                break
            found = fewer
        return found

    def _accuracy_alone(
        self, examples: list[Example], query: Query, model: Model, vocabulary: Vocabulary
    ) -> np.ndarray:
        """As `_curve`, but of `accuracy` and `depths` alone: decoding could read past the training
        length.
        """
        last, correct = len(examples[0].values) - 1, []
        for index in sorted({round(d * last) for d in self.depths}):
            prompts = [self._prompt(e, index, query, vocabulary)[0] for e in examples]
            correct.append(self._exact(model, prompts, examples, vocabulary))
        return np.stack(correct, 1)

    def _exact(
        self,
        model: Model,
        prompts: Sequence[np.ndarray],
        examples: Sequence[Example],
        vocabulary: Vocabulary,
    ) -> np.ndarray:
        """Returns (trials,): True where greedy decoding gives the value behind the opening."""
        opened = [np.concatenate([p, _ids(OPENING, vocabulary)]) for p in prompts]
        answers = [_ids(e.value, vocabulary) for e in examples]
        return exact(model, opened, answers, self.batch_tokens)

    def _curve(
        self,
        cells: Recorder,
        examples: list[Example],
        query: Query,
        model: Model,
        vocabulary: Vocabulary,
        share_done: Callable[[float], None],
    ) -> np.ndarray:
        """Rows of one form and number of records; which trials are right, (trials, depths).

        share_done: hears the share of it that is done.
        """
        last = len(examples[0].values) - 1
        indices = sorted(
            {round(d * last) for d in self.depths} if self.indices is None else set(self.indices)
        )
        depths, correct = [i / max(1, last) for i in indices], []
        for index, depth in zip(indices, depths, strict=True):
            prompts, distances = zip(
                *(self._prompt(e, index, query, vocabulary) for e in examples), strict=True
            )
            answers = [_ids(e.value, vocabulary) for e in examples]
            scores = {"accuracy": self._exact(model, prompts, examples, vocabulary)}
            if self.generate:
                scores |= self._decoded(model, prompts, examples, vocabulary)
            places = {
                "index": index,
                "distance": int(np.mean(distances)),
                "drawn": checksum(*prompts, *answers),
            }
            cells.at(depth=depth).answers(scores, places, sum(map(len, answers)))
            correct.append(scores["accuracy"])
            share_done(len(correct) / len(indices))
        if {0.0, 1.0} <= set(depths) and any(0.25 <= d <= 0.75 for d in depths):
            cells.curve(np.stack(correct, 1), depths)
        cells.value("guess", 1 / (last + 1))
        return np.stack(correct, 1)

    @staticmethod
    def _prompt(
        example: Example, index: int, query: Query, vocabulary: Vocabulary
    ) -> tuple[np.ndarray, int]:
        """The ids of a prompt, and the tokens from the beginning of the gold record to the last of
        them.
        """
        text, at = example.prompt(index, query)
        before, behind = vocabulary.turns.before, vocabulary.turns.behind
        ids = np.concatenate([before, _ids(text, vocabulary), behind]).astype(np.int64)
        return ids, len(_ids(text[at:], vocabulary)) - 1 + len(behind)

    def _decoded(
        self,
        model: Model,
        prompts: Sequence[np.ndarray],
        examples: Sequence[Example],
        vocabulary: Vocabulary,
    ) -> dict[str, np.ndarray]:
        """In any case; an id that is no text ends a word."""
        decoded = greedy(model, prompts, self.generate, self.batch_tokens)
        texts = [vocabulary.encoder.decode(row).casefold() for row in decoded.tolist()]
        said = [
            [value.casefold() in text for value in example.values]
            for text, example in zip(texts, examples, strict=True)
        ]
        return {
            "substring": np.array([values[0] for values in said]),
            "format": np.array([any(values) for values in said]),
        }


def _where(examples: Sequence[Example], query: Query, vocabulary: Vocabulary) -> dict:
    """Coordinates of one form and number of records. In bytes, moving a record moves no length; a
    tokenizer may make a token more or less of another place.
    """
    length = (
        1
        + vocabulary.turns.extra
        + max(
            len(_ids(example.prompt(0, query)[0] + OPENING + example.value, vocabulary))
            for example in examples
        )
    )
    return {"protocol": query, "length": length, "axis": "records", "at": len(examples[0].values)}


def _ids(text: str, vocabulary: Vocabulary) -> np.ndarray:
    return vocabulary.encoder(text.encode())[0].astype(np.int64)
