"""Key-value retrieval in the format of the paper that named it: JSON records as text, the gold one
moved through them.

    last    the question stands behind the records
    both    in front of them as well (query-aware contextualisation)
    first   in front of them alone

Records are read from the published files or generated, and so are their prompts, by
extrap.data.trials.json_prompt. Source: arXiv 2307.03172, whose score is `substring`. Text
is read as the vocabulary reads it; in bytes, a record of two UUIDs is 80 tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, product
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval, MinLen

from extrap.data.encoder import ids_behind
from extrap.data.trials.base import checksum
from extrap.data.trials.json_prompt import UUID, Example, Query, generate, most, read
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Counter, Model, Progress, Result, Setting, Task
from extrap.tasks.scoring.answers import NONE
from extrap.tasks.scoring.multi_token import Read, before_end, exact, greedy, together
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count, OneOrMore, Share, at_least, at_most

# behind the colon of the prompt, so that `accuracy` is about the value and not about how it is
# introduced
OPENING, CLOSING = ' "', '"'
ENDS = (CLOSING, "\n", "<", "</", "<|")
"""Beginnings of a token that ends a value: the quotation mark, a line break, the end of a turn; a
special token ends it, too. None with which a value of the examples continues another one.
"""


@dataclass(frozen=True, eq=False)
class Asked:
    """Examples with one number of records, in one form of the prompt, of which a model is asked."""

    examples: Sequence[Example]
    query: Query
    vocabulary: Vocabulary
    model: Model
    batch_tokens: int

    @property
    def records(self) -> int:
        return len(self.examples[0].values)

    @cached_property
    def answers(self) -> list[np.ndarray]:
        encoder = self.vocabulary.encoder
        return [ids_behind(encoder, OPENING, example.value) for example in self.examples]

    @cached_property
    def merged(self) -> dict[int, int]:
        """The examples whose value ends in a token of the closing quotation mark, as in `."`: by
        index, the tokens of both.
        """
        encoder = self.vocabulary.encoder
        found = {}
        for i, (example, answer) in enumerate(zip(self.examples, self.answers, strict=True)):
            whole = ids_behind(encoder, OPENING, example.value + CLOSING)
            if not np.array_equal(whole[: len(answer)], answer):
                found[i] = max(len(whole), len(answer) + self.closed)
        return found

    @cached_property
    def closed(self) -> bool:
        """True if values differ in length, so that one may begin with another: an answer then ends
        behind the value.
        """
        sizes = {len(value) for value in every_value(self.examples)}
        return len(sizes) > 1

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """Returns the beginnings of a token that ends a value."""
        values = {*every_value(self.examples)}
        continued = []
        for value in values:
            for n in range(1, len(value)):
                if value.startswith(ENDS, n) and value[:n] in values:
                    continued.append(value[n:])
        return tuple(end for end in ENDS if not any(text.startswith(end) for text in continued))

    @cached_property
    def length(self) -> int:
        """Returns the tokens of the longest prompt and answer. In bytes, moving a record moves no
        length; a tokenizer may make a token more or less of another place.
        """
        end = CLOSING * self.closed
        longest = 0
        for example in self.examples:
            prompt, _ = example.prompt(0, self.query)
            text = prompt + OPENING + example.value + end
            ids = self._ids(text)
            longest = max(longest, len(ids))
        return 1 + self.vocabulary.turns.extra + longest

    def fewer(self, length: int) -> list["Asked"]:
        """Returns the same questions with 2, 3, ... of their records, as far as these fit into a
        length.
        """
        found = []
        for n in range(2, self.records):
            examples = [each.first(n) for each in self.examples]
            asked = replace(self, examples=examples)
            if asked.length > length:
                break
            found.append(asked)
        return found

    def prompts(self, index: int) -> tuple[list[np.ndarray], float]:
        """Returns the ids of every prompt with the gold record at an index, and the mean distance
        from the beginning of that record to the last token.
        """
        turns = self.vocabulary.turns
        prompts = []
        distances = []
        for example in self.examples:
            text, at = example.prompt(index, self.query)
            prompts.append(turns.around(self._ids(text)))
            from_record = self._ids(text[at:])
            distance = len(from_record) - 1 + len(turns.behind)
            distances.append(distance)
        mean = float(np.mean(distances))
        return prompts, mean

    @cached_property
    def _right(self) -> dict[int, np.ndarray]:
        return {}

    def right(self, index: int, read: Read) -> np.ndarray:
        """Returns which examples are answered right (trials,), with the gold record at an index."""
        if index not in self._right:
            self.said([index], 0, read)
        return self._right[index]

    def said(self, indices: Sequence[int], count: int, read: Read) -> dict[int, np.ndarray]:
        """Returns the `count` tokens that follow each prompt (trials, count), by index of the gold
        record, and notes which examples are answered right. A model that keeps a past reads what
        the prompts of an example share once, the longest text in front of the gold record first.
        """
        opening = ids_behind(self.vocabulary.encoder, ":", OPENING)
        ends = self._ends if self.closed else None
        prompts = {index: self.prompts(index)[0] for index in sorted(indices, reverse=True)}
        longest = max(map(len, self.answers))
        extra = max(count, len(opening) + longest + 1)
        sizes = list(zip(map(len, prompts[max(indices)]), map(len, self.answers), strict=True))
        trials = len(sizes)
        right = {index: np.zeros(trials) for index in indices}
        said = {index: np.zeros((trials, count), np.int64) for index in indices}
        for rows, model in together(self.model, sizes, self.batch_tokens, extra):
            answers = [self.answers[i] for i in rows]
            for index, every in prompts.items():
                some = [every[i] for i in rows]
                opened = [np.concatenate([ids, opening]) for ids in some]
                found = exact(model, opened, answers, self.batch_tokens, ends, read)
                right[index][rows] = found
                if merged := [n for n, i in enumerate(rows) if i in self.merged]:
                    texts = [opened[n] for n in merged]
                    apart = [rows[n] for n in merged]
                    right[index][apart] = self._by_text(model, texts, apart)
                if count:
                    ids = greedy(model, some, count, self.batch_tokens, read, self._over)
                    said[index][rows] = ids
        self._right.update(right)
        return said

    def _by_text(
        self, model: Model, prompts: Sequence[np.ndarray], rows: Sequence[int]
    ) -> np.ndarray:
        """Returns whether the text decoded behind the prompts begins with the values of these
        examples, nan without a most likely token.
        """
        count = max(self.merged[i] for i in rows)
        said = greedy(model, prompts, count, self.batch_tokens, ended=self._over)
        found = np.full(len(rows), np.nan)
        for n, (i, ids) in enumerate(zip(rows, said, strict=True)):
            spoken, over = before_end(ids, self.vocabulary)
            if NONE in ids and not over:
                continue
            text = self.vocabulary.encoder.decode(spoken.tolist())
            value = self.examples[i].value
            rest = text[len(value) :]
            ends = rest.startswith(self.ends) or (over and not rest)
            found[n] = text.startswith(value) and (ends or not self.closed)
        return found

    def _over(self, ids: np.ndarray) -> bool:
        return before_end(ids, self.vocabulary)[1]

    def _ends(self, token: int) -> bool:
        encoder = self.vocabulary.encoder
        special = token in encoder.special or token == self.vocabulary.bos  # an engine's last word
        return special or encoder.decode([token]).startswith(self.ends)

    def _ids(self, text: str) -> np.ndarray:
        ids, _ = self.vocabulary.encoder(text.encode())
        return ids.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class LostInTheMiddle(Task):
    """The task that asks for one of many JSON records: accuracy by its index and by the number of
    records.

    Args:
        path: a jsonl or jsonl.gz file in the published format, null for generated records
        pairs: numbers of records that are generated, 1 is the gold record alone
        characters: of generated keys and values, the first of a UUID
        seed: of generated records
        depths: of the gold record, its index over the last
        indices: of the gold record, in place of depths; null: depths
        query: forms of the prompt
        trials: examples, of a file the first
        generate: tokens decoded after the prompt for `substring` and `format`, 0 leaves these out
        batch_tokens: tokens per forward, which changes speed and memory only

    Rows have the number of records as axis `records` and the tokens of the longest prompt and
    answer as length. Metrics:

    accuracy    is the value, in all its bytes, what greedy decoding says behind the prompt and an
                opening quotation mark; where values differ in length, the value ends there, too: by
                a quotation mark, a line break or the end of a turn
    substring   does the text decoded behind the prompt, up to the end of the text or the turn,
                contain the value, in any case; a longer value of the context that contains it does
                not count
    format      does it contain any value of the context: what tells an answer of the wrong form
                from a wrong answer
    guess       expected accuracy of naming the value of a record at random, 1 / records
    primacy, recency, u_depth, tilt, mid    as in tasks.scoring.retrieval, where the depths allow
    gate        mean accuracy over `depths` of the most records that fit into the training length:
                the largest number asked for that does, else the same examples with as many of their
                records as fit, at least two. Below 0.9 the rows of the form have the status `not
                trained`, and where no two records fit, too: without a gate nothing shows that the
                form was ever learned, so that a low accuracy says nothing about length
    """

    name: ClassVar[str] = "lost-in-the-middle"
    inner: ClassVar[bool] = True
    asks: ClassVar = "answers"

    path: str | None = None
    pairs: OneOrMore[Count] = (1, 2, 4)
    characters: Annotated[int, Interval(ge=1, le=UUID)] = 36
    depths: Annotated[Sequence[Share], MinLen(1)] = (0, 0.5, 1)
    indices: Annotated[Sequence[Annotated[int, Ge(0)]], MinLen(1)] | None = None
    query: OneOrMore[Query] = ("last", "both")
    trials: Count = 20
    generate: Annotated[int, Ge(0)] = 40
    seed: Annotated[int, Ge(0)] = 0
    batch_tokens: Count = 8192

    def check(self, setting: Setting) -> None:
        option = f"task.{self.name}"
        if self.path is None:
            made = most(self.characters)
            why = f"of ids that task.{self.name}.characters={self.characters} makes"
            at_most(f"{option}.pairs", max(self.pairs), made, why)
        examples = self._examples()[0]
        if self.generate:
            longest = max(len(value.encode()) for value in every_value(examples))
            needed = len(OPENING) + longest
            why = "bytes of the opening and the longest value; 0 leaves substring and format out"
            at_least(f"{option}.generate", self.generate, needed, why)
        fewest = len(examples[0].values)
        index = max(self.indices or [0])
        why = f"the last of {fewest} records"
        at_most(f"{option}.indices", index, fewest - 1, why)

    def _examples(self) -> list[list[Example]]:
        """Sets of examples with one number of records each, the fewest first."""
        if self.path is not None:
            option = f"task.{self.name}.path"
            return [read(option, self.path, self.trials)]

        def drawn(pairs: int) -> list[Example]:
            return [generate(pairs, self.characters, self.seed, i) for i in range(self.trials)]

        return [drawn(pairs) for pairs in sorted(self.pairs)]

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        def cell(one: Asked, cost: int, measure: Callable) -> Cell:
            where = {"protocol": one.query, "length": one.length, "axis": "records"}
            where["at"] = one.records
            return Cell(where, cost, measure)

        plan = []
        for examples, query in product(self._examples(), self.query):
            asked = Asked(examples, query, setting.vocabulary, model, self.batch_tokens)
            plan.append(asked)
        cells = [cell(one, self._tokens(one), partial(self._curve, one)) for one in plan]
        for query in self.query:
            # one record alone is found by whoever copies what is there
            several = [one for one in plan if one.query == query and one.records > 1]
            fits = [one for one in several if one.length <= setting.length]
            if several and not fits:
                fits = several[0].fewer(setting.length)
            if fits:
                longest = fits[-1]
                cells.append(cell(longest, 0, partial(self._gate, longest)))
        recorder = recorded(cells, progress)
        return recorder.result(recorder.passed.__contains__)  # a short context may have no gate

    def _tokens(self, asked: Asked) -> int:
        """Returns the tokens of the prompts, once for each score that reads them."""
        places = len(self._measured_indices(asked))
        scores = 2 if self.generate else 1
        return places * len(asked.examples) * asked.length * scores

    def _measured_indices(self, asked: Asked) -> list[int]:
        """Returns the records asked for, in order."""
        if self.indices is None:
            return self._indices(asked)
        return sorted(set(self.indices))

    def _indices(self, asked: Asked) -> list[int]:
        last = asked.records - 1
        return sorted({round(depth * last) for depth in self.depths})

    def _gate(self, asked: Asked, cells: Recorder, counter: Counter) -> None:
        """Records the gate, of `accuracy` and `depths` alone: decoding could read past the training
        length.
        """
        indices = self._indices(asked)
        correct = [asked.right(index, counter) for index in indices]
        cells.share("gate", np.stack(correct, 1))

    def _curve(self, asked: Asked, cells: Recorder, counter: Counter) -> None:
        """Records one form and number of records."""
        indices = self._measured_indices(asked)
        last = max(1, asked.records - 1)
        depths = [i / last for i in indices]
        tokens = sum(map(len, asked.answers))
        correct = []
        said = asked.said(indices, self.generate, counter)
        for index, depth in zip(indices, depths, strict=True):
            prompts, distance = asked.prompts(index)
            scores = {"accuracy": asked.right(index, counter)}
            if self.generate:
                scores |= self._decoded(said[index], asked)
            drawn = checksum(*prompts, *asked.answers)
            places = {"index": index, "distance": int(distance), "drawn": drawn}
            cells.at(depth=depth).answers(scores, places, tokens)
            correct.append(scores["accuracy"])
        cells.curve(np.stack(correct, 1), depths)
        cells.value("guess", 1 / asked.records)

    def _decoded(self, decoded: np.ndarray, asked: Asked) -> dict[str, np.ndarray]:
        """Returns the scores of decoded text, in any case, up to the end of the text or the turn;
        an id that is no text ends a word.
        """
        vocabulary = asked.vocabulary
        count = len(asked.examples)
        substring = np.full(count, np.nan)
        form = np.full(count, np.nan)
        for i, (ids, example) in enumerate(zip(decoded, asked.examples, strict=True)):
            spoken, over = before_end(ids, vocabulary)
            if NONE in ids and not over:
                continue
            text = vocabulary.encoder.decode(spoken.tolist()).casefold()
            said = named(text, example.values)
            substring[i] = said[0]
            form[i] = any(said)
        return {"substring": substring, "format": form}


def every_value(examples: Sequence[Example]) -> Iterator[str]:
    """Returns the values of all records."""
    return chain.from_iterable(example.values for example in examples)


def named(text: str, values: Sequence[str]) -> list[bool]:
    """Returns which values a text names, in any case. A value within a longer value of the context
    is not named by the longer value.
    """
    folded = [value.casefold() for value in values]
    longest_first = sorted(set(folded), key=len, reverse=True)
    found = {}
    for value in longest_first:
        found[value] = value in text
        text = text.replace(value, "\n")
    return [found[value] for value in folded]
