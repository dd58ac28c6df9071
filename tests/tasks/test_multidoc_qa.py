"""Answers from documents in text, on readers whose accuracy is known exactly."""

import json
import re
from dataclasses import replace

import pytest
import torch
from tokenizers import Tokenizer

from extrap.data.trials.documents_prompt import MOST, folded, generate, read, with_others
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.tasks.base import Setting
from extrap.tasks.multidoc_qa import MultiDocQA, Prompts
from extrap.utils.errors import UserError
from tests.support import hand, word_tokenizer
from tests.support.hand import VOCABULARY, checked, measure, values

L = 900
DEPTHS = (0.0, 0.5, 1.0)


def task(**options):
    return MultiDocQA(**{"documents": (3,), "depths": DEPTHS, "trials": 4} | options)


def writer(answer):
    return hand.writer(answer, "Answer:")


def documents(prompt):
    """{town: text} of a prompt, in its order."""
    return dict(re.findall(r"\(Title: (\w+)\) (.*)", prompt))


def answered(known, prompt):
    """The answer to the last question of a prompt from {town: text}; `nobody` without one."""
    question = re.findall(r"Question: (.*)", prompt)[-1]
    for town, text in known.items():
        if town in question:
            kind = next(word for word in ("who", "year", "river") if word in question)
            form = {"who": r"by (\w+ \w+)", "year": r"in (\d+)", "river": r"river (\w+)"}[kind]
            return " " + re.search(form, text)[1] + "."
    return " nobody"


def oracle(prompt):
    return answered(documents(prompt), prompt)


def cells(result):
    """{(protocol, documents, depth): accuracy}, without a depth where no document is moved."""
    rows = [row for row in result.rows if row["metric"] == "accuracy"]
    return {(row["protocol"], row["at"], row.get("depth")): row["value"] for row in rows}


def test_an_oracle_is_right_everywhere_and_nowhere_without_documents():
    forms = ("last", "both", "first")
    result = measure(task(documents=(2, 3), query=forms), writer(oracle), None, L)
    where = {(q, 2, d) for q in forms for d in (0, 1)} | {(q, 3, d) for q in forms for d in DEPTHS}
    right = dict.fromkeys(where, 1.0)
    assert cells(result) == right | {("oracle", 1, None): 1.0, ("closed_book", 0, None): 0.0}
    assert {row["status"] for row in result.rows} == {"ok"}


def test_a_reader_of_the_first_and_the_last_document_has_a_u():
    def ends(prompt):
        known = documents(prompt)
        kept = [*known][:1] + [*known][-1:]
        return answered({town: known[town] for town in kept}, prompt)

    result = measure(task(documents=(5,), depths=(0, 0.25, 0.5, 1)), writer(ends), None, L)
    found = {depth: v for (protocol, _, depth), v in cells(result).items() if protocol == "last"}
    assert found == {0: 1, 0.25: 0, 0.5: 0, 1: 1}
    assert [*values(result, "u_depth").values()] == [1.0]


def test_the_distance_is_from_the_document_to_the_end():
    result = measure(task(trials=1), writer(oracle), None, L)
    distance = {i["depth"]: i["value"] for i in result.items if i["metric"] == "distance"}
    question = generate(3, 0, 0)
    for depth, index in ((0.0, 0), (0.5, 1), (1.0, 2)):
        text, at = question.prompt(index, "last")
        assert text[at:].startswith(f"Document [{index + 1}](Title: {question.gold.title}) ")
        assert distance[depth] == len(text) - at - 1


def test_what_stands_behind_the_first_line_is_no_answer():
    """Else whoever copies the context is right."""
    copied = measure(task(), writer(lambda p: " no idea\n" + oracle(p)), None, L)
    assert set(cells(copied).values()) == {0.0}
    within = measure(task(), writer(lambda p: " It is" + oracle(p).upper()), None, L)
    assert {v for (protocol, _, _), v in cells(within).items() if protocol == "last"} == {1.0}


@pytest.mark.parametrize("end", ["</s>", "<end_of_turn>", "[SEP]"])
def test_what_stands_behind_the_end_of_a_text_is_no_answer(tmp_path, end):
    """A model that nobody stops goes on behind it."""
    made = Tokenizer.from_file(str(word_tokenizer.written(tmp_path) / "tokenizer.json"))
    made.add_special_tokens([end])
    made.save(str(tmp_path / "tokenizer.json"))
    words = PublishedVocabulary.of_folder(tmp_path, made.get_vocab_size(), 0, "here")

    prompts = Prompts(["who?"], [["baka"]], words)
    asked = len(prompts.ids[0])
    for text, right in ((f" no{end} baka", 0), (f" baka{end} no", 1), (f"{end} baka", 0)):
        ids = [*words.encoder(text.encode())[0].tolist(), *[0] * 20]

        def model(tokens, last, ids=ids):
            of_last = ids[tokens.shape[1] - asked + 1 - last :][:last]
            return torch.nn.functional.one_hot(torch.tensor([of_last]), words.size).float()

        assert prompts.right(model, 12, 100, lambda tokens: None).tolist() == [right]


def test_an_answer_of_an_article_is_not_held_by_every_text(tmp_path):
    asked = [replace(generate(3, 0, i), answers=("The", "?!", "Nobody Else")) for i in range(4)]
    path = written(tmp_path / "articles.jsonl", asked)
    assert set(cells(measure(task(path=path), writer(oracle), None, L)).values()) == {0.0}


def test_who_cannot_answer_from_the_gold_document_shows_nothing():
    result = measure(task(), writer(lambda prompt: " nobody"), None, L)
    assert {row["status"] for row in result.rows} == {"not trained"}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The Beatles!", "beatles"),
        ("May 18, 2018", "may 18 2018"),
        ("  a  b-c ", "bc"),
        ("'s", "s"),
    ],
)
def test_answers_are_compared_as_squad_does(text, same):
    assert folded(text) == same


def lines(questions):
    """Questions in the published format, the gold document in the middle."""
    for i, question in enumerate(questions):
        told = [vars(each) | {"isgold": False} for each in question.others]
        told.insert(i % (1 + len(told)), vars(question.gold) | {"isgold": True, "hasanswer": True})
        known = {"question": question.question, "answers": [*question.answers], "ctxs": told}
        yield json.dumps(known | {"nq_annotated_gold": {}})


def written(path, questions):
    path.write_text("\n".join(lines(questions)))
    return str(path)


def test_a_file_of_generated_questions_is_the_same_test_as_generating_them(tmp_path):
    path = written(tmp_path / "some.jsonl", [generate(6, 0, i) for i in range(5)])
    made = measure(task(documents=(3, 6)), writer(oracle), None, L)
    assert measure(task(documents=(3, 6), path=path), writer(oracle), None, L) == made


def test_drawn_documents_hold_no_answer_and_are_the_same_again(tmp_path):
    alone = [generate(1, 0, i) for i in range(40)]
    alone[1] = replace(alone[1], answers=("bridge",))  # every document has one
    path = written(tmp_path / "oracle.jsonl", alone)
    found = with_others(read("path", path), 10, 0)
    assert found == with_others(read("path", path), 10, 0)
    for i, (question, before) in enumerate(zip(found, alone, strict=True)):
        assert (question.question, question.gold) == (before.question, before.gold)
        assert len({*question.others}) == len(question.others) == (0 if i == 1 else 9)
        assert question.gold not in question.others
        held = [folded(f"{each.title} {each.text}") for each in question.others]
        assert not any(folded(question.answers[0]) in text for text in held)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"documents": [MOST + 1]}, "task.multidoc-qa.documents"),
        ({"path": "alone.jsonl"}, "others=drawn"),
        (
            {"path": "alone.jsonl", "others": "drawn", "documents": [9]},
            "task.multidoc-qa.documents",
        ),
        ({"path": "nothing.jsonl"}, "there is no such file"),
        ({"others": "drawn"}, "task.multidoc-qa.others=drawn: draws from a file; give task.m"),
        ({"path": "two gold.jsonl"}, "one document of them gold"),
        ({"path": "text.jsonl"}, 'text.jsonl:1: expected {"question"'),
        ({"path": "article.jsonl"}, "article.jsonl:2: no answer has a word"),
    ],
)
def test_bad_files_and_numbers_are_refused_in_a_line(tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    alone = [generate(1, 0, i) for i in range(4)]
    written(tmp_path / "alone.jsonl", alone)
    twice = json.loads(next(lines(alone)))
    twice["ctxs"] *= 2
    (tmp_path / "two gold.jsonl").write_text(json.dumps(twice))
    known = json.loads(next(lines(alone)))
    (tmp_path / "text.jsonl").write_text(json.dumps(known | {"answers": "Verne"}))
    article = [json.dumps(known | {"answers": answers}) for answers in (["The", "!", "x"], ["The"])]
    (tmp_path / "article.jsonl").write_text("\n".join(article))
    with pytest.raises(UserError) as raised:
        checked(task(), options, None, VOCABULARY, L)
    assert problem in str(raised.value) and "\n" not in str(raised.value)


def test_progress_begins_before_the_first_forward_and_ends_at_its_total():
    said = []
    setting = Setting(None, VOCABULARY, L)
    task().run(writer(oracle), setting, lambda *step: said.append(step))
    assert said[0][0] == 0 and said[-1][0] == said[-1][1]
