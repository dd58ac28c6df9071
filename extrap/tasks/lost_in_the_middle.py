"""Key-value retrieval in the format of the paper that named it: JSON records as text, the gold one moved through them.

    last    the question stands behind the records
    both    in front of them as well (query-aware contextualisation)

Records are read from the published files (extrap.data.trials.published) or generated; their prompts: extrap.data.trials.json_prompt. Source:
arXiv 2307.03172, whose score is `substring`. Text is read as bytes, so that a record of two UUIDs is 80 tokens.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np

from extrap.tasks.scoring.single_token import mark_each, report, report_curve, report_gate
from extrap.data.encoder import BYTES
from extrap.data.trials.json_prompt import UUID, Example, generate, most
from extrap.data.trials.published import read
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.scoring.multi_token import exact, greedy
from extrap.data.trials.digest import digest
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least

OPENING = ' "'  # behind the colon of the prompt, so that `accuracy` is about the value and not about how it is introduced


class LostInTheMiddle(Task):
    """Accuracy by index of the record asked for and number of records.

    path: a jsonl or jsonl.gz file in the published format, null for generated records; pairs: numbers of records that are generated, 1
    is the gold record alone; characters: of generated keys and values, the first of a UUID; seed: of generated records; depths: of the
    gold record, its index over the last, or indices: these very ones; query: forms of the prompt; trials: examples, of a file the first;
    generate: bytes decoded after the prompt for `substring` and `format`, 0 leaves these out; batch_tokens: tokens per forward, which
    changes speed and memory only. Rows have the number of records as axis `records` and the tokens of the longest prompt and answer as
    length. Metrics:

    accuracy    is the value, in all its bytes, what greedy decoding says behind the prompt and an opening quotation mark
    substring   does the text decoded behind the prompt contain the value, in any case
    format      does it contain any value of the context: what tells an answer of the wrong form from a wrong answer
    guess       expected accuracy of naming the value of a record at random, 1 / records
    primacy, recency, u_depth, tilt, mid    as in extrap.tasks.kv, where the depths allow
    gate        mean accuracy over `depths` of the most records that fit into the training length: the largest number asked for that
                does, else the same examples with as many of their records as fit, at least two. Below 0.9 the rows of the form have the
                status `not trained`, and where no two records fit, too: without a gate nothing shows that the form was ever learned,
                so that a low accuracy says nothing about length
    """

    def __init__(
        self,
        path: str | None = None,
        pairs: Sequence[int] = (1, 2, 4),
        characters: int = 36,
        depths: Sequence[float] = (0, 0.5, 1),
        indices: Sequence[int] | None = None,
        query: Sequence[Literal["last", "both"]] = ("last", "both"),
        trials: int = 20,
        generate: int = 40,
        seed: int = 0,
        batch_tokens: int = 8192,
    ):
        self.path, self.pairs, self.characters, self.depths, self.indices = path, pairs, characters, depths, indices
        self.query, self.trials, self.generate, self.seed, self.batch_tokens = query, trials, generate, seed, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        option = "task.lost-in-the-middle"
        if vocabulary.encoder is not BYTES:
            raise UserError(f"{option}: reads and writes bytes; use data/vocabulary=bytes, or leave this task out")
        for name, low in (("trials", 1), ("generate", 0), ("seed", 0), ("batch_tokens", 1)):
            check_at_least(f"{option}.{name}", getattr(self, name), low)
        if not self.query or len(set(self.query)) < len(self.query):
            raise UserError(f"{option}.query={list(self.query)}: last, both, or the two of them")
        if not self.depths or not all(0 <= d <= 1 for d in self.depths):
            raise UserError(f"{option}.depths={list(self.depths)}: must be numbers from 0 (first record) to 1 (last record)")
        if self.path is None:
            self._check_generated(option)
            fewest, longest = min(self.pairs), self.characters
        else:
            (examples,) = self._examples()
            fewest, longest = len(examples[0].values), max(len(_ids(value)) for e in examples for value in e.values)
        if self.generate and self.generate < (least := len(OPENING) + longest):
            raise UserError(
                f"{option}.generate={self.generate}: cuts values off; the opening and the longest value are {least} bytes: give so many or "
                "more, or 0 to leave substring and format out"
            )
        if self.indices is not None and (not self.indices or not all(0 <= i < fewest for i in self.indices)):
            raise UserError(f"{option}.indices={list(self.indices)}: from 0 to {fewest - 1}, for {fewest} records; null takes depths")

    def _check_generated(self, option: str) -> None:
        if not self.pairs or min(self.pairs) < 1 or len(set(self.pairs)) < len(self.pairs):
            raise UserError(f"{option}.pairs={list(self.pairs)}: different numbers of records of at least 1")
        if not 1 <= self.characters <= UUID:
            raise UserError(f"{option}.characters={self.characters}: from 1 to {UUID}, those of a UUID")
        if (ids := most(self.characters)) < max(self.pairs):
            raise UserError(
                f"{option}.pairs={list(self.pairs)}: with {option}.characters={self.characters} there are ids for {ids} records; give more"
            )

    def _examples(self) -> list[list[Example]]:
        """Sets of examples with one number of records each."""
        if self.path is not None:
            return [read("task.lost-in-the-middle.path", self.path, self.trials)]
        return [[generate(k, self.characters, self.seed, i) for i in range(self.trials)] for k in sorted(self.pairs)]

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        sets = self._examples()
        plan = [(examples, query) for examples in sets for query in self.query]
        cost = [len(examples) * sum(len(v) for v in examples[0].values) for examples, _ in plan]
        result, gates = Result(), {}
        for at, (examples, query) in enumerate(plan):
            part = Result()
            try:
                told = partial(_told, progress, cost, at)
                where, correct = self._curve(part, examples, query, model, vocabulary, told)
                result.rows += part.rows
                result.items += part.items
                if where["length"] <= train_length:
                    gates[query] = where, correct
            except OutOfRange:
                pass
            progress(sum(cost[: at + 1]), sum(cost))
        for query in self.query:
            if query not in gates and (fewer := self._fewer(sets[0], query, train_length)):
                gates[query] = self._gate(fewer, query, model, vocabulary)
        for where, correct in gates.values():
            report_gate(result, where, correct)
        return mark_each(result)

    @staticmethod
    def _fewer(examples: list[Example], query: str, train_length: int) -> list[Example]:
        """The examples with as many of their records as fit into the training length; none where no two do."""
        found: list[Example] = []
        for records in range(2, len(examples[0].values)):
            fewer = [example.first(records) for example in examples]
            if _where(fewer, query)["length"] > train_length:
                break
            found = fewer
        return found

    def _gate(self, examples: list[Example], query: str, model: Model, vocabulary: Vocabulary) -> tuple[dict, np.ndarray]:
        """As `_curve`, but of `accuracy` and `depths` alone: decoding could read past the training length."""
        where, answers, correct = _where(examples, query), [_ids(e.value) for e in examples], []
        for index in sorted({round(d * (where["at"] - 1)) for d in self.depths}):
            opened = [np.concatenate([self._prompt(e, index, query, vocabulary)[0], _ids(OPENING)]) for e in examples]
            correct.append(exact(model, opened, answers, self.batch_tokens))
        return where, np.stack(correct, 1)

    def _curve(
        self, result: Result, examples: list[Example], query: str, model: Model, vocabulary: Vocabulary, told: Callable[[float], None]
    ) -> tuple[dict, np.ndarray]:
        """Rows of one form and number of records; their common coordinates, and which trials are right, (trials, depths).

        told: what hears the share of it that is done.
        """
        records, where = len(examples[0].values), _where(examples, query)
        indices = sorted({round(d * (records - 1)) for d in self.depths} if self.indices is None else set(self.indices))
        depths, correct = [i / max(1, records - 1) for i in indices], []
        for index, depth in zip(indices, depths, strict=True):
            prompts, distances = zip(*(self._prompt(e, index, query, vocabulary) for e in examples), strict=True)
            answers = [_ids(e.value) for e in examples]
            opened = [np.concatenate([p, _ids(OPENING)]) for p in prompts]
            scores = {"accuracy": exact(model, opened, answers, self.batch_tokens)}
            if self.generate:
                scores |= self._said(model, prompts, examples)
            report(
                result,
                where | {"depth": depth},
                scores,
                {"index": index, "distance": int(np.mean(distances)), "drawn": digest(*prompts, *answers)},
                sum(map(len, answers)),
            )
            correct.append(scores["accuracy"])
            told(len(correct) / len(indices))
        if {0.0, 1.0} <= set(depths) and any(0.25 <= d <= 0.75 for d in depths):
            report_curve(result, where, np.stack(correct, 1), depths)
        result.rows.append(where | {"metric": "guess", "value": 1 / records})
        return where, np.stack(correct, 1)

    @staticmethod
    def _prompt(example: Example, index: int, query: str, vocabulary: Vocabulary) -> tuple[np.ndarray, int]:
        """The ids of a prompt, and the tokens from the beginning of the gold record to the last of them."""
        text, at = example.prompt(index, query == "both")
        return np.concatenate([[vocabulary.bos], _ids(text)]), len(_ids(text[at:])) - 1

    def _said(self, model: Model, prompts: Sequence[np.ndarray], examples: Sequence[Example]) -> dict[str, np.ndarray]:
        """In any case; an id that is no byte ends a word."""
        said = greedy(model, prompts, self.generate, self.batch_tokens)
        texts = [bytes(i if i < BYTES.ids else ord("\n") for i in row).decode(errors="replace").casefold() for row in said.tolist()]
        wanted = [[value.casefold() for value in example.values] for example in examples]
        return {
            "substring": np.array([values[0] in text for text, values in zip(texts, wanted, strict=True)]),
            "format": np.array([any(v in text for v in values) for text, values in zip(texts, wanted, strict=True)]),
        }


def _told(progress: Progress, cost: Sequence[int], at: int, share: float) -> None:
    """Of several things to do, with the cost of each, those before number `at` are done, and this share of it."""
    progress(sum(cost[:at]) + round(share * cost[at]), sum(cost))


def _where(examples: Sequence[Example], query: str) -> dict:
    """Coordinates of one form and number of records. Moving a record moves no length, so that every depth has this one."""
    length = 1 + max(len(_ids(example.prompt(0, query == "both")[0] + OPENING + example.value)) for example in examples)
    return {"protocol": query, "length": length, "axis": "records", "at": len(examples[0].values)}


def _ids(text: str) -> np.ndarray:
    return BYTES(text.encode())[0].astype(np.int64)
