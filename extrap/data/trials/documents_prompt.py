"""Question answering from documents in text, generated or read from a jsonl or jsonl.gz file as it
is published with arXiv 2307.03172, and the prompts it makes.

The document with the answer is taken out and put back at any index; the others keep their order.
The words of a prompt are our own, its layout follows the paper:

    Answer the question from the documents below. Some of them may have nothing to do with it.

    Document [1](Title: Velmora) Velmora is a town on the river Tessin. It was founded in ...
    Document [2](Title: Ordane) Ordane is a town on the river Quill. It was founded in ...

    Question: who founded Ordane?
    Answer:
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from extrap.data.corpora.reader import json_rows
from extrap.data.trials.json_prompt import Query
from extrap.utils.errors import UserError

INSTRUCTION = (
    "Answer the question from the documents below. Some of them may have nothing to do with it."
)
CODE = 41  # keeps its random draws apart from the draws of other test sets
LINE = (
    '{"question": text, "answers": [text, ...], '
    '"ctxs": [{"title": text, "text": text, "isgold": true or false}, ...]}'
)


@dataclass(frozen=True)
class Document:
    title: str
    text: str


@dataclass(frozen=True)
class DocumentQuestion:
    """A question about one of several documents.

    Args:
        answers: each of which is right
        gold: the document that holds an answer
        others: the documents without one, in their order
    """

    question: str
    answers: tuple[str, ...]
    gold: Document
    others: tuple[Document, ...] = ()

    def first(self, documents: int) -> "DocumentQuestion":
        """Returns the question with the gold document and the first of the others."""
        return replace(self, others=self.others[: documents - 1])

    def prompt(self, index: int, query: Query) -> tuple[str, int]:
        """Returns the prompt with the gold document at an index from 0, and the place of that
        document in characters.

        query: the question stands behind the documents (last), on both sides of them (both), or in
        front of them alone (first).
        """
        documents = list(self.others)
        documents.insert(index, self.gold)
        listed = [_listed(number, each) for number, each in enumerate(documents, 1)]
        question = f"Question: {self.question}\n"
        before, behind = query in ("both", "first"), query in ("last", "both")
        front = f"{INSTRUCTION}\n\n" + f"{question}\n" * before
        before_gold = [text + "\n" for text in listed[:index]]
        at = len(front) + sum(map(len, before_gold))
        back = "\n\n" + question * behind + "Answer:"
        return front + "\n".join(listed) + back, at

    @property
    def closed_book(self) -> str:
        """Returns the prompt without any document."""
        return f"Question: {self.question}\nAnswer:"


def _listed(number: int, document: Document) -> str:
    return f"Document [{number}](Title: {document.title}) {document.text}"


TOWNS = [a + b for a, b in product(("Vel", "Or", "Tam", "Kes", "Bri", "Nu", "Hal", "Sor"),
         ("mora", "dane", "wick", "burg", "stead", "lisk", "ford", "venna"))]  # fmt: skip
FIRST = ("Alma", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hugo", "Ilse", "Jonas")
LAST = ("Verne", "Okafor", "Lindt", "Moreau", "Tanaka", "Novak", "Silva", "Berg", "Rossi", "Quist")
PEOPLE = [f"{first} {last}" for first, last in product(FIRST, LAST)]
STREAMS = ("Tess", "Quill", "Arn", "Dov", "Lim", "Pell", "Sav", "Yar")
RIVERS = [a + b for a, b in product(STREAMS, ("in", "ow", "eth", "ara", "une", "is", "ock", "el"))]
ASKED = (
    "who founded {town}?",
    "in which year was {town} founded?",
    "on which river does {town} lie?",
)
TEXT = (
    "{town} is a town on the river {river}. It was founded in {year} by {person}, who built a "
    "bridge and a market there. Most visitors come in summer."
)
MOST = min(len(TOWNS), len(PEOPLE), len(RIVERS))
"""Documents of a generated question at most: no two of them share a fact."""


def generate(documents: int, seed: int, item: int) -> DocumentQuestion:
    """Draws question `item` about one of so many towns. Every town has a document, and no two
    documents share a fact. More documents follow those of a smaller number; the question stays.
    """
    rng = np.random.default_rng((seed, CODE, item))
    which = int(rng.integers(len(ASKED)))
    towns = rng.permutation(TOWNS).tolist()
    people = rng.permutation(PEOPLE).tolist()
    rivers = rng.permutation(RIVERS).tolist()
    years = (1200 + rng.permutation(700)).tolist()
    told = []
    for i in range(documents):
        text = TEXT.format(town=towns[i], person=people[i], river=rivers[i], year=years[i])
        told.append(Document(towns[i], text))
    answer = (people[0], str(years[0]), rivers[0])[which]
    question = ASKED[which].format(town=towns[0])
    return DocumentQuestion(question, (answer,), told[0], tuple(told[1:]))


def read(option: str, path: str) -> list[DocumentQuestion]:
    """Returns the questions of a file.

    Answers of articles and punctuation alone are left out: every text would hold them. Raises
    UserError, naming file and line, for a line of another format than LINE, for one without exactly
    one gold document, and for one without an answer that is left.
    """
    file = Path(os.path.expanduser(path))
    if not file.is_file():  # a pipe or a device would be read for ever
        remedy = "give a jsonl or jsonl.gz file, or null for generated documents"
        raise UserError(option, path, "there is no such file", remedy)
    questions = []
    for place, row in json_rows(file, option):
        try:
            questions.append(_question(row))
        except (TypeError, LookupError, ValueError, AttributeError):
            problem = f"expected {LINE}, one document of them gold"
            raise UserError(option, place, problem) from None
        if not questions[-1].answers:
            problem = "no answer has a word that is no article"
            raise UserError(option, place, problem, "leave the question out")
    if not questions:
        raise UserError(option, path, "the file holds no question", f"write lines as {LINE}")
    return questions


def _question(row: Any) -> DocumentQuestion:
    answers = row["answers"]
    if not (isinstance(answers, list) and answers):  # a text would be a list of its characters
        raise TypeError("no answers")
    said = tuple(answer for answer in map(_text, answers) if folded(answer))
    documents = []
    gold = []
    for each in row["ctxs"]:
        document = Document(_text(each["title"]), _text(each["text"]))
        (gold if each.get("isgold") is True else documents).append(document)
    (one,) = gold
    return DocumentQuestion(_text(row["question"]), said, one, tuple(documents))


def _text(given: Any) -> str:
    if not (isinstance(given, str) and given.encode()):  # half of a character has no bytes
        raise TypeError("no text")
    return given


def with_others(
    questions: Sequence[DocumentQuestion], documents: int, seed: int
) -> list[DocumentQuestion]:
    """Returns the questions, each with `documents` - 1 gold documents of other questions, drawn
    from those that hold none of its answers; with fewer where the file has no more.
    """
    found = []
    pool = list(dict.fromkeys(question.gold for question in questions))
    for item, question in enumerate(questions):
        rng = np.random.default_rng((seed, CODE, item))
        wanted = [folded(answer) for answer in question.answers]
        others: list[Document] = []
        for i in rng.permutation(len(pool)).tolist():
            if len(others) == documents - 1:
                break
            text = folded(f"{pool[i].title} {pool[i].text}")
            holds = any(answer in text for answer in wanted)
            if not holds and pool[i] != question.gold:
                others.append(pool[i])
        found.append(replace(question, others=tuple(others)))
    return found


ARTICLES = {"a", "an", "the"}
PUNCTUATION = str.maketrans("", "", r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~""")


def folded(text: str) -> str:
    """Returns a text in small letters without punctuation, articles and double spaces, as SQuAD
    compares answers (arXiv 1606.05250).
    """
    words = text.lower().translate(PUNCTUATION).split()
    return " ".join(word for word in words if word not in ARTICLES)
