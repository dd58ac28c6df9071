"""Records in the words of a tokenizer: what is asked can be read, and who can look up finds it."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from extrap.data.facts import Template
from extrap.data.keyvalue import Padded, Records
from extrap.data.multidoc import DocumentForm
from extrap.data.nth import NthForm
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from extrap.pretrained.vocabulary import ORDINALS, PublishedVocabulary
from extrap.tasks.haystack import Haystack
from extrap.tasks.kv import KV
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import word_tokenizer
from tests.support.checkpoint_jobs import asked, placed
from tests.support.hand import Texts, measure, values

L = 64


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    folder = word_tokenizer.written(tmp_path_factory.mktemp("words"))
    return PublishedVocabulary.of_folder(folder, 1000, 0, "here").words


@pytest.fixture
def filler(words):
    ids = words.encoder(b"x y z, 1 2 3. " * 200)[0]
    return Texts([ids, ids[::-1]])


def text(words: Vocabulary, ids) -> str:
    return words.encoder.decode(np.asarray(ids).tolist())


def test_keys_and_values_are_words_and_none_is_both(words):
    assert not set(words.key_ids) & set(words.value_ids)
    assert len(words.key_ids) == words.keys and len(words.value_ids) == words.values
    assert words.keys > 3 * words.values > 50
    shown = [words.encoder.word(i) for i in (*words.key_ids, *words.value_ids)]
    assert all(w[0] == "\u0120" and w[1:].isalpha() for w in shown)
    assert shown[:3] == ["\u0120first", "\u0120second", "\u0120third"]
    assert text(words, words.layout.between) == ":" and text(words, words.layout.behind) == "\n"


@pytest.mark.parametrize("depth", [0, 0.5, 1])
def test_records_are_lines_that_the_tokenizer_reads_so(words, filler, depth):
    length = 1 + 2 + 4 * 7  # no filler
    made = Records(layout=words.layout).questions(
        Trials(words, filler.stream("validation"), length, range(5)), depth
    )
    for row, answer in zip(made.tokens, made.answers, strict=True):
        said = text(words, row[1:])
        assert np.array_equal(words.encoder(said.encode())[0], row[1:])
        lines = said.split("\n")
        assert len(lines) == 8 and lines[-1] == f"{lines[round(depth * 6)].split(':')[0]}:"
        assert lines[round(depth * 6)].split(":")[1] == text(words, answer)
        gold = 1 + 4 * round(depth * 6)
        assert row[gold] == row[-2] and length - 2 - gold == made.distance


@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize("depth", [0, 0.3, 0.5, 0.9, 1])
def test_records_in_text_are_whole_and_move_alone(words, filler, pairs, depth):
    form = Padded(pairs, layout=words.layout)
    stream, rest = filler.stream("validation"), set()
    made = form.questions(Trials(words, stream, 60, range(4)), depth)
    for row, answer in zip(made.tokens, made.answers, strict=True):
        gold = 60 - 2 - int(made.distance)
        assert row[gold : gold + 4].tolist() == [row[-2], row[-1], answer[0], *words.layout.behind]
        assert sum(line.count(":") for line in text(words, row[1:]).split("\n")) == pairs + 1
        rest.add(np.delete(row, range(gold, gold + 4)).tobytes())
    again = form.questions(Trials(words, stream, 60, range(4)), 0.0)
    assert {np.delete(row, range(1, 5)).tobytes() for row in again.tokens} == rest


def test_a_document_is_a_sentence(words, filler):
    made = Trials(words, filler.stream("validation"), 80, range(3))
    questions = DocumentForm(Template.of(words, 2), True).questions(made, 0.5)
    for row, answer in zip(questions.tokens, questions.answers, strict=True):
        said = text(words, row[1:])
        *front, asked = said.split("\n")
        assert asked.startswith(" The ") and asked.endswith(" is")
        assert asked + text(words, answer) in "\n".join(front)


def test_the_nth_is_asked_by_its_ordinal(words, filler):
    form = NthForm(3, layout=words.layout)
    made = form.questions(Trials(words, filler.stream("validation"), 40, range(5)), 0.5)
    for row, answer in zip(made.tokens, made.answers, strict=True):
        *lines, asked = text(words, row[1:]).split("\n")
        ordinal, key = asked.rstrip(":").split()
        records = [line.split(": ")[1] for line in lines if line.split(":")[0].strip() == key]
        assert ordinal == "second" and len(records) == 3
        assert " " + records[1] == text(words, answer)
    with pytest.raises(UserError, match=r"count=end: the tokenizer has no word"):
        NthForm(3, "end", layout=words.layout).check("task.nth", words, 80)


def lookup(words):
    """Says what stood behind the query's words where they stood before; the last such place."""

    def model(tokens, last=None):
        rows = tokens.tolist()
        out = torch.zeros(len(rows), last or len(rows[0]), words.size)
        for b, row in enumerate(rows):
            for w in range(out.shape[1]):
                end = len(row) - out.shape[1] + w + 1
                for width in (8, 5, 2):  # a question, its key
                    query = row[max(0, end - width) : end]
                    places = [n for n in range(end - width) if row[n : n + len(query)] == query]
                    if places:
                        out[b, w, row[places[-1] + len(query)]] = 1
                        break
        return out

    return model


def test_who_looks_up_finds_everything(words, filler):
    reader = lookup(words)
    task = KV(multiples=(0.5, 1), depths=(0, 0.5, 1), trials=4, pairs=3)
    found = measure(task, reader, filler, L, words)
    for metric in ("accuracy", "restricted", "format"):
        assert set(values(found, metric).values()) == {1.0}
    assert {row["status"] for row in found.rows} == {"ok"}
    hay = Haystack(
        multiples=(1,), depths=(0, 0.5, 1), trials=4, needles=3, distances=3, passkey_trials=2
    )
    found = measure(hay, reader, filler, L, words)
    accuracy = values(found, "accuracy")
    assert len(accuracy) >= 8 and set(accuracy.values()) == {1.0}
    assert values(found, "all")["multiquery", L] == 1.0


def test_the_gate_within_the_training_length_is_the_shortest(words, filler):
    """A real model is asked far within its window: the shortest text shows that it knows how."""
    reader = lookup(words)

    def near(tokens, last=None):
        out = reader(tokens, last)
        return out if tokens.shape[1] <= L // 4 else torch.zeros_like(out)

    task = KV(multiples=(0.25, 0.5), depths=(0, 0.5, 1), trials=4, pairs=2)
    found = measure(task, near, filler, L, words)
    assert values(found, "gate") == {("records", L // 4): 1.0}
    assert {row["status"] for row in found.rows} == {"ok"}
    assert values(found, "accuracy")["records", L // 2, 0.5] == 0
    with pytest.raises(UserError, match="must include 1"):
        measure(KV(multiples=(0.5, 2)), near, filler, L, words)


def test_a_tokenizer_without_words_is_refused(tmp_path):
    few = word_tokenizer.written(tmp_path, word_tokenizer.WORDS[:20])
    with pytest.raises(UserError, match="too few for keys and values"):
        _ = PublishedVocabulary.of_folder(few, 1000, 0, "here").words
    other = word_tokenizer.written(tmp_path / "bare", more=())
    assert not PublishedVocabulary.of_folder(other, 1000, 0, "here").words.ordinals


@pytest.mark.parametrize("task", ["kv", "nth", "trace", "multidoc"])
def test_a_length_with_more_records_than_words_asks_for_shorter_lengths(task, elsewhere):
    """A tokenizer brings its words: no option gives more keys."""
    placed(elsewhere)
    folder = word_tokenizer.written(elsewhere / "model")
    tiny.made("llama", vocab_size=1000, max_position_embeddings=64).save_pretrained(folder)
    words = [f"task=[{task}]", f"task.{task}.multiples=[1,99]", "model.bos=0"]
    with pytest.raises(UserError, match=r"words for keys, of \d+ needed") as error:
        _ = asked(*words, "model.checkpoint=model").tasks
    assert error.value.option == f"task.{task}" and "shorter lengths" in error.value.remedy


@pytest.mark.parametrize("legacy", [True, False])
def test_records_of_a_tokenizer_with_a_space_in_front_are_lines(legacy, tmp_path):
    """SentencePiece, as Llama 2 has it and as newer files have it: a space in front of whatever it
    is given, or of what begins with none.
    """
    letters = sorted({*map(chr, range(33, 127)), "\n", "\u2581"})
    pieces = [("<unk>", 0.0), *((letter, -9.0) for letter in letters)]
    pieces += [(f"\u2581{word}", -9.0) for word in (*ORDINALS, *word_tokenizer.WORDS)]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    if legacy:
        steps = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        made.normalizer = normalizers.Sequence(steps)
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    made.save(str(tmp_path / "tokenizer.json"))
    words = PublishedVocabulary.of_folder(tmp_path, len(pieces), 0, "here").words
    layout = words.layout
    shown = [[words.encoder.word(i) for i in part] for part in (layout.between, layout.behind)]
    assert shown == [[":"], ["\n"]]


class Named:
    """An encoder of so many ids with these tokens at the end."""

    def __init__(self, *last: str):
        self.last, self.ids, self.special = last, 70 + len(last), frozenset[int]()

    def word(self, i: int) -> str:
        return self.last[i - 70]


def test_special_tokens_past_the_ids_of_a_model_are_no_tokens_of_text():
    for named, fit in (
        ((), True),
        (("<image_soft_token>", "[PAD]"), True),
        (("\u0120word",), False),
        (("<s>",) * 200, False),
    ):
        if fit:
            assert PublishedVocabulary(Named(*named), 70, 0, "here").size == 70
        else:
            with pytest.raises(UserError, match="a model of 70"):
                PublishedVocabulary(Named(*named), 70, 0, "here")
