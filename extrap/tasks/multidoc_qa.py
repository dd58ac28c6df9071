"""Question answering from documents in plain text: the document with the answer is moved through
the others. It is the first figure of the paper that named the lost middle, for any model that
writes English, a checkpoint or an engine.

    last         the question stands behind the documents
    both         in front of them as well (query-aware contextualisation)
    first        in front of them alone
    oracle       the document with the answer alone: the best possible accuracy
    closed_book  no document: what the model knows or guesses without reading

Questions are read from the published files or generated, and so are their prompts, by
extrap.data.trials.documents_prompt. Source: arXiv 2307.03172, section 2. Documents as tokens that
a small model can learn: extrap.tasks.multidoc.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, MinLen

from extrap.data.trials.base import checksum
from extrap.data.trials.documents_prompt import (
    MOST,
    DocumentQuestion,
    folded,
    generate,
    read,
    with_others,
)
from extrap.data.trials.json_prompt import Query
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Counter, Model, Progress, Result, Setting, Task
from extrap.tasks.scoring.answers import NONE
from extrap.tasks.scoring.multi_token import before_end, greedy
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count, OneOrMore, Several, Share, at_most
from extrap.utils.errors import UserError

END = re.compile(r"\n|<\|")
"""What ends an answer in its text: a line break, or an end of a turn such as <|im_end|> that the
tokenizer does not know as special.
"""
ENOUGH = 0.5
"""Accuracy with the gold document alone from which a model counts as one that answers."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts of one form as ids, each with the answers that are right."""

    texts: Sequence[str]
    answers: Sequence[Sequence[str]]
    vocabulary: Vocabulary

    @cached_property
    def ids(self) -> list[np.ndarray]:
        turns = self.vocabulary.turns
        return [turns.around(encoded(self.vocabulary, text)) for text in self.texts]

    @property
    def longest(self) -> int:
        return max(map(len, self.ids))

    def right(self, model: Model, count: int, batch_tokens: int, counter: Counter) -> np.ndarray:
        """Returns (trials,): 1 if the first line of `count` decoded tokens holds an answer, else 0;
        nan without a most likely token before the line ends.
        """
        decoded = greedy(model, self.ids, count, batch_tokens, counter, self._ended)
        found = np.full(len(self.texts), np.nan)
        for i, (ids, answers) in enumerate(zip(decoded, self.answers, strict=True)):
            line, over = self._line(ids)
            if over or NONE not in ids:
                said = folded(line)
                found[i] = any(folded(answer) in said for answer in answers)
        return found

    def _ended(self, ids: np.ndarray) -> bool:
        return self._line(ids)[1]

    def _line(self, ids: np.ndarray) -> tuple[str, bool]:
        """Returns the first line of decoded ids, and whether it is over: by a line break or the end
        of a text or a turn.
        """
        said, ended = before_end(ids, self.vocabulary)
        text = self.vocabulary.encoder.decode(said.tolist()).lstrip()
        over = END.search(text)
        return (text[: over.start()], True) if over else (text, ended)


def encoded(vocabulary: Vocabulary, text: str) -> np.ndarray:
    ids, _ = vocabulary.encoder(text.encode())
    return ids.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class MultiDocQA(Task):
    """Accuracy by place of the document with the answer and number of documents.

    Args:
        path: a jsonl or jsonl.gz file in the published format, null for generated documents
        documents: numbers of documents in a prompt, at least 2
        others: the documents without the answer. own: the first ones of the question's line;
            drawn: the gold documents of other questions, for a file of gold documents alone
        depths: of the gold document, its index over the last
        query: forms of the prompt
        trials: questions, of a file the first
        generate: tokens decoded after the prompt; 100 in the paper
        seed: of what is drawn
        batch_tokens: tokens per forward, which changes speed and memory only

    Rows have the number of documents as axis `documents` and the tokens of the longest prompt and
    answer as length. Metrics:

    accuracy    the first line of the decoded text holds one of the answers; both are compared
                without capitals, punctuation and articles, as SQuAD does (`best_subspan_em` of the
                paper's code)
    primacy, recency, u_depth, tilt, mid    as in tasks.scoring.retrieval, where the depths allow

    Rows have the status `not trained` if the model answers less than half of the questions from
    the gold document alone. A low accuracy among several documents then says nothing about place.
    """

    name: ClassVar[str] = "multidoc-qa"
    inner: ClassVar[bool] = True
    asks: ClassVar = "answers"

    path: str | None = None
    documents: OneOrMore[Several] = (10,)
    others: Literal["own", "drawn"] = "own"
    depths: Annotated[Sequence[Share], MinLen(1)] = (0, 0.25, 0.5, 0.75, 1)
    query: OneOrMore[Query] = ("last",)
    trials: Count = 100
    generate: Count = 32
    seed: Annotated[int, Ge(0)] = 0
    batch_tokens: Count = 8192

    def check(self, setting: Setting) -> None:
        option = f"task.{self.name}"
        most = max(self.documents)
        if self.path is None:
            if self.others != "own":
                remedy = f"give {option}.path, or leave it out"
                raise UserError(f"{option}.others", self.others, "draws from a file", remedy)
            at_most(f"{option}.documents", most, MOST, "towns that a question may draw")
            return
        fewest = min(1 + len(question.others) for question in self._questions(most))
        remedy = "others=drawn takes documents of other questions"
        why = f"documents with the fewest of {self.path}; {option}.{remedy}"
        at_most(f"{option}.documents", most, fewest, why)

    def _questions(self, documents: int) -> list[DocumentQuestion]:
        """Returns the questions, each with so many documents or all there are."""
        if self.path is None:
            return [generate(documents, self.seed, item) for item in range(self.trials)]
        found = read(f"task.{self.name}.path", self.path)
        if self.others == "drawn":
            found = with_others(found, documents, self.seed)
        return [question.first(documents) for question in found[: self.trials]]

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        vocabulary = setting.vocabulary
        few = self._questions(min(self.documents))
        cells = list(self._bounds(model, vocabulary, few))
        for documents in sorted(self.documents):
            questions = self._questions(documents)
            for query in self.query:
                cells.append(self._moved(model, vocabulary, questions, query))
        recorder = recorded(cells, progress)
        return recorder.result(self._answers(recorder))

    def _answers(self, recorder: Recorder) -> bool:
        """Returns whether the model answers from the gold document alone."""
        alone = [row for row in recorder.rows if row["protocol"] == "oracle"]
        return any(row["metric"] == "accuracy" and row["value"] >= ENOUGH for row in alone)

    def _bounds(
        self, model: Model, vocabulary: Vocabulary, questions: list[DocumentQuestion]
    ) -> Iterator[Cell]:
        """Yields the cells of the gold document alone, and of no document."""
        alone = [question.first(1).prompt(0, "last")[0] for question in questions]
        nothing = [question.closed_book for question in questions]
        answers = [question.answers for question in questions]
        for protocol, documents, texts in (("oracle", 1, alone), ("closed_book", 0, nothing)):
            prompts = Prompts(texts, answers, vocabulary)
            measure = partial(self._bound, model, prompts)
            yield self._cell(protocol, documents, [prompts], measure)

    def _bound(self, model: Model, prompts: Prompts, cells: Recorder, counter: Counter) -> None:
        hits = prompts.right(model, self.generate, self.batch_tokens, counter)
        cells.answers({"accuracy": hits}, {"drawn": checksum(*prompts.ids)})

    def _moved(
        self, model: Model, vocabulary: Vocabulary, questions: list[DocumentQuestion], query: Query
    ) -> Cell:
        """Returns the cell of one form and number of documents."""
        documents = 1 + len(questions[0].others)
        answers = [question.answers for question in questions]
        last = documents - 1
        by_index = {}
        distances = {}
        for index in sorted({round(depth * last) for depth in self.depths}):
            laid = [question.prompt(index, query) for question in questions]
            texts = [text for text, _ in laid]
            by_index[index] = Prompts(texts, answers, vocabulary)
            behind = [len(encoded(vocabulary, text[at:])) for text, at in laid]
            distances[index] = int(np.mean(behind)) - 1 + len(vocabulary.turns.behind)

        def measure(cells: Recorder, counter: Counter) -> None:
            correct = []
            for index, prompts in by_index.items():
                hits = prompts.right(model, self.generate, self.batch_tokens, counter)
                places = {"index": index, "distance": distances[index]}
                places["drawn"] = checksum(*prompts.ids)
                cells.at(depth=index / last).answers({"accuracy": hits}, places)
                correct.append(hits)
            cells.curve(np.stack(correct, 1), [index / last for index in by_index])

        return self._cell(query, documents, [*by_index.values()], measure)

    def _cell(
        self, protocol: str, documents: int, every: Sequence[Prompts], measure: Callable
    ) -> Cell:
        length = self.generate + max(prompts.longest for prompts in every)
        tokens = sum(len(ids) for prompts in every for ids in prompts.ids)
        where = {"protocol": protocol, "length": length, "axis": "documents", "at": documents}
        return Cell(where, tokens, measure)
