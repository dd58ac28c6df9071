"""Records as text, on readers whose accuracy is known exactly."""

import json
import re

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers

from extrap.data.facts import Template
from extrap.data.trace import stop
from extrap.data.trials.json_prompt import FIELDS, Example, generate
from extrap.model.scheme import OutOfRange
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.tasks.base import Setting
from extrap.tasks.lost_in_the_middle import Asked, LostInTheMiddle
from tests.support import hand, word_tokenizer
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY, measure, values

L = 400
SCORES = ("accuracy", "substring", "format")


def task(**options):
    return LostInTheMiddle(
        **{"pairs": (1, 3), "characters": 6, "trials": 3, "generate": 12} | options
    )


def writer(answer):
    return hand.writer(answer, "value:")


def records(prompt):
    return re.findall(r'"(\w+)": "(\w+)"', prompt)


def key(prompt):
    return re.findall(r'Key: "(\w+)"', prompt)[-1]


def oracle(prompt):
    return f' "{dict(records(prompt))[key(prompt)]}"'


def cells(result, metric):
    return hand.cells(result, metric, "protocol", "at", "depth")


def test_an_oracle_is_right_everywhere():
    forms = ("last", "both", "first")
    result = measure(task(query=forms), writer(oracle), None, L)
    where = {(q, k, d) for q in forms for k, d in ((1, 0), (3, 0), (3, 0.5), (3, 1))}
    for metric in SCORES:
        assert cells(result, metric) == dict.fromkeys(where, 1.0)
    assert {r["status"] for r in result.rows} == {"ok"}
    assert {(r["n"], r["tokens"]) for r in result.rows if r["metric"] == "accuracy"} == {(3, 18)}
    assert {r["at"]: r["value"] for r in result.rows if r["metric"] == "guess"} == {1: 1, 3: 1 / 3}
    assert {query: value for (query, _), value in values(result, "mid").items()} == {
        "last": 1,
        "both": 1,
        "first": 1,
    }
    keys = [
        tuple(r.get(c) for c in ("protocol", "length", "depth", "axis", "at", "metric"))
        for r in result.rows
    ]
    assert len(set(keys)) == len(keys)


def a_space_in_front(folder, merges=()):
    """The vocabulary of a tokenizer in the form of Llama 2: each character is a token, and a space
    stands in front of whatever it is given.
    """
    words = ["<s>", "<unk>", *sorted({*map(chr, range(33, 127)), "\n", "\u2581"})]
    words += map("".join, merges)
    numbers = {word: i for i, word in enumerate(words)}
    made = Tokenizer(models.BPE(numbers, [*merges], unk_token="<unk>"))
    steps = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    made.normalizer = normalizers.Sequence(steps)
    steps = [decoders.Replace("\u2581", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(steps)
    made.save(str(folder / "tokenizer.json"))
    return PublishedVocabulary.of_folder(folder, len(words), 0, "here")


def tokens_of(answer, vocabulary):
    """A model that goes on with the tokens of prompt and answer in one piece."""
    encoder = vocabulary.encoder

    def model(tokens, last):
        out = torch.zeros(len(tokens), last, vocabulary.size)
        for b, row in enumerate(tokens.tolist()):
            for w, end in enumerate(range(len(row) - last + 1, len(row) + 1)):
                prompt = encoder.decode(row[1:end]).rpartition("value:")[0] + "value:"
                whole, _ = encoder((prompt + answer(prompt) + "\n" * 20).encode())
                out[b, w, int(whole[end - 1])] = 1
        return out

    return model


def test_a_value_has_the_tokens_that_it_has_inside_a_text(tmp_path):
    """A tokenizer of SentencePiece puts a space in front of a value that is encoded apart."""
    vocabulary = a_space_in_front(tmp_path)
    result = measure(task(query=("last",)), tokens_of(oracle, vocabulary), None, L, vocabulary)
    assert {*cells(result, "accuracy").values()} == {*cells(result, "substring").values()} == {1.0}
    form = Template.of(vocabulary, 1)
    ends = [stop(vocabulary), form.stop, form.ask]
    assert [vocabulary.encoder.word(i) for i in ends] == [";", ".", "?"]


@pytest.mark.parametrize("others", [["fails."], ["works", "works.."]])
def test_a_value_whose_end_merges_with_the_quotation_mark_is_right(others, tmp_path):
    """`."` is one token. Values of one length, and of several, which end with it."""
    vocabulary = a_space_in_front(tmp_path, [(".", '"')])
    values = dict(zip(("alpha", "beta", "gamma"), ["works.", *others], strict=False))
    line = json.dumps(dict(zip(FIELDS, ([*values.items()], "alpha", "works."), strict=True)))
    (tmp_path / "few.jsonl").write_text("\n".join([line] * 3))
    asked = task(path=str(tmp_path / "few.jsonl"), query=("last",))
    for said in values.values():
        model = tokens_of(lambda prompt, said=said: f' "{said}"', vocabulary)
        result = measure(asked, model, None, L, vocabulary)
        assert set(cells(result, "accuracy").values()) == {float(said == "works.")}, said


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_window_is_a_step_at_the_distance_of_the_record(width):
    """The distance runs from the beginning of the record to the end of the prompt."""

    def seen(prompt):
        return ' "' + dict(records(prompt[-width:])).get(key(prompt), "none") + '"'

    result = measure(task(pairs=(3,), query=("last",), generate=0), writer(seen), None, L)
    assert not cells(result, "substring") and not cells(result, "format")
    distance = {i["depth"]: i["value"] for i in result.items if i["metric"] == "distance"}
    assert [distance[0.0] - distance[0.5], distance[0.5] - distance[1.0]] == [
        len('"abcdef": "abcdef",\n ')
    ] * 2
    for (_, _, depth), accuracy in cells(result, "accuracy").items():
        assert accuracy == (distance[depth] < width)


def test_an_answer_of_another_form_fails_the_format_and_not_the_value():
    """Code that would fetch the value, as one model of the paper wrote, holds no value."""
    result = measure(task(), writer(lambda p: " data.get(key)"), None, L)
    assert [set(cells(result, m).values()) for m in SCORES] == [{0.0}, {0.0}, {0.0}]
    result = measure(task(), writer(lambda p: oracle(p).upper().replace('"', "'")), None, L)
    assert [set(cells(result, m).values()) for m in SCORES] == [{0.0}, {1.0}, {1.0}]


def published(folder, records):
    """A file of so many records of six characters, five examples."""
    path = folder / "some.jsonl"
    lines = []
    for i in range(5):
        made = generate(records, 6, 5, i)
        pairs = [*made.distractors]
        pairs.insert(i % records, (made.key, made.value))
        lines.append(json.dumps(dict(zip(FIELDS, (pairs, made.key, made.value), strict=True))))
    path.write_text("\n".join(lines))
    return str(path)


def gates(result):
    return {r["protocol"]: r for r in result.rows if r["metric"] == "gate"}


@pytest.mark.parametrize(
    ("options", "indices"), [({}, {0, 14, 29}), ({"indices": (0, 29)}, {0, 29})]
)
def test_the_gate_of_a_file_that_is_too_long_is_of_as_many_of_its_records_as_fit(
    tmp_path, options, indices
):
    """A reader that is right up to the training length and lost past it has learned the form, so
    its zeros are about length.
    """
    asked = task(path=published(tmp_path, 30), **options)
    result = measure(
        asked, writer(lambda p: oracle(p) if len(p) + 2 + 6 <= L else " none"), None, L
    )
    assert {r["status"] for r in result.rows} == {"ok"}
    assert set(cells(result, "accuracy").values()) == {0.0}
    assert {at for _, at, _ in cells(result, "accuracy")} == {30}
    assert {i["item"] for i in result.items} == {0, 1, 2, "all"}
    assert {i["value"] for i in result.items if i["metric"] == "index"} == indices
    record = len(',\n "abcdef": "abcdef"')
    for row in gates(result).values():
        assert (row["value"], row["n"], row["tokens"]) == (1, 3, 9)
        assert 2 <= row["at"] < 30 and L - record < row["length"] <= L


def test_without_two_records_that_fit_there_is_no_gate(tmp_path):
    made = generate(30, 6, 5, 0)
    one, two = (len(made.first(k).prompt(0, "last")[0]) + 1 + 2 + 6 for k in (1, 2))
    for length, gated in ((one, False), (two - 1, False), (two, True)):
        result = measure(
            task(path=published(tmp_path, 30), query=("last",)), writer(oracle), None, length
        )
        assert ([r["at"] for r in gates(result).values()], {r["status"] for r in result.rows}) == (
            ([2], {"ok"}) if gated else ([], {"not trained"})
        )


def test_a_gate_reads_no_further_than_the_training_length(tmp_path):
    def model(tokens, last):
        if tokens.shape[1] >= L:
            raise OutOfRange("past the table")
        return writer(oracle)(tokens, last)

    result = measure(task(path=published(tmp_path, 30), generate=30), model, None, L)
    assert {r["metric"] for r in result.rows} == {"gate"}
    assert {r["status"] for r in result.rows} == {"ok"}


def test_a_file_of_generated_records_is_the_same_test_as_generating_them(tmp_path):
    made = measure(task(pairs=(4,), seed=5), writer(oracle), None, L)
    assert made == measure(task(path=published(tmp_path, 4), pairs=()), writer(oracle), None, L)


def test_one_record_alone_is_no_gate():
    """Whoever copies the only record there is has found nothing."""
    first = writer(lambda prompt: f' "{records(prompt)[0][1]}"')
    one, two = (len(generate(2, 6, 5, 0).first(k).prompt(0, "last")[0]) + 9 for k in (1, 2))
    for length in (one, two):
        asked = task(pairs=(1, 2), query=("last",), depths=(0.0, 1.0))
        result = measure(asked, first, None, length)
        assert {r["status"] for r in result.rows} == {"not trained"}
        assert [r["at"] for r in gates(result).values()] == ([2] if length == two else [])


def test_the_longer_value_that_begins_alike_is_not_the_value(tmp_path):
    """Values of several lengths: `12` is right, and `123`, another record's value, is wrong."""
    pairs = [["alpha", "12"], ["beta", "123"], ["gamma", "777"]]
    line = json.dumps(dict(zip(FIELDS, (pairs, "alpha", "12"), strict=True)))
    (tmp_path / "few.jsonl").write_text("\n".join([line] * 3))
    asked = task(path=str(tmp_path / "few.jsonl"))
    for said, right in (("12", 1.0), ("123", 0.0), ("129", 0.0), ("777", 0.0)):
        result = measure(asked, writer(lambda prompt, said=said: f' "{said}"'), None, L)
        assert set(cells(result, "accuracy").values()) == {right}, said
        assert set(cells(result, "substring").values()) == {float(said in ("12", "129"))}
        assert set(cells(result, "format").values()) == {1.0}


@pytest.mark.parametrize(
    ("longer", "said", "right"),
    [("12<b>9", "12<b>9", 0.0), ("12<b>9", "12", 1.0), ("1234", "12</s>", 1.0)],
)
def test_a_value_that_another_one_continues_like_a_turn_does_not_end_there(
    longer, said, right, tmp_path
):
    pairs = [["alpha", "12"], ["beta", longer], ["gamma", "777"]]
    line = json.dumps(dict(zip(FIELDS, (pairs, "alpha", "12"), strict=True)))
    (tmp_path / "few.jsonl").write_text("\n".join([line] * 3))
    asked = task(path=str(tmp_path / "few.jsonl"))
    result = measure(asked, writer(lambda prompt: f' "{said}"'), None, L)
    assert set(cells(result, "accuracy").values()) == {right}


def test_a_value_is_what_stands_in_the_prompt(tmp_path):
    """JSON writes a backslash twice, and a reader copies both."""
    pairs = [["alpha", r"C:\temp\a"], ["beta", 'say "b"'], ["gamma", "two\nlines"]]
    line = json.dumps(dict(zip(FIELDS, (pairs, *pairs[0]), strict=True)))
    (tmp_path / "few.jsonl").write_text("\n".join([line] * 3))
    asked = task(path=str(tmp_path / "few.jsonl"), generate=30)

    def copied(prompt):
        return ' "' + re.search(r'"alpha": "(.*?)"[,}]', prompt)[1] + '"'

    result = measure(asked, writer(copied), None, L)
    for metric in SCORES:
        assert set(cells(result, metric).values()) == {1.0}, metric


@pytest.mark.parametrize(("end", "right"), [("[|endofturn|]", 1.0), ("3", 0.0)])
def test_a_special_token_ends_a_value(tmp_path, end, right):
    made = Tokenizer.from_file(str(word_tokenizer.written(tmp_path) / "tokenizer.json"))
    made.add_special_tokens(["[|endofturn|]"])
    made.save(str(tmp_path / "tokenizer.json"))
    words = PublishedVocabulary.of_folder(tmp_path, made.get_vocab_size(), 0, "here")
    said = torch.tensor(made.encode(f"12{end}").ids)

    def model(tokens, last):
        return torch.nn.functional.one_hot(said[None, :last], words.size).float()

    example = Example((("beta", "123"),), "alpha", "12")
    assert Asked([example], "last", words, model, 999).right(0, bool).tolist() == [right]


@pytest.mark.parametrize(("end", "found"), [("[|endofturn|]", 0.0), ("x", 1.0)])
def test_nothing_counts_behind_the_end_of_a_turn(tmp_path, end, found):
    made = Tokenizer.from_file(str(word_tokenizer.written(tmp_path) / "tokenizer.json"))
    made.add_special_tokens(["[|endofturn|]"])
    made.save(str(tmp_path / "tokenizer.json"))
    words = PublishedVocabulary.of_folder(tmp_path, made.get_vocab_size(), 0, "here")
    said = torch.tensor(made.encode(f' "none"{end} ' + "123 " * 20).ids)

    def model(tokens, last):
        return torch.nn.functional.one_hot(said[None, :last], words.size).float()

    examples = [Example((("beta", "123"),), "alpha", "12")]
    asked = Asked(examples, "last", words, model, 999)
    scores = task()._decoded(asked.said([0], 12, bool)[0], asked)
    assert (scores["substring"].tolist(), scores["format"].tolist()) == ([0.0], [found])


@torch.no_grad()
def test_what_prompts_of_an_example_share_is_read_once():
    """The prompt for both scores, and the records in front of the gold one at every depth."""
    model = gpt("rope", vocab=VOCABULARY.size, length=L)
    examples = [generate(6, 4, 0, i) for i in range(2)]
    plain = Asked(examples, "last", VOCABULARY, model.forward, 8192)
    indices = (0, 3, 5)
    expected = plain.said(indices, 3, bool)
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].numel()))
    asked = Asked(examples, "last", VOCABULARY, model, 8192)
    said = asked.said(indices, 3, bool)
    for index in indices:
        assert (said[index] == expected[index]).all()
        assert (asked.right(index, bool) == plain.right(index, bool)).all()
    prompts = 2 * asked.length
    assert 0 < sum(read) < 0.5 * 2 * len(indices) * prompts, "of each prompt for each score"


@pytest.mark.parametrize("generate", [0, 12])
def test_progress_begins_before_the_first_forward_and_counts_each_batch(generate):
    """Three depths of two examples, one forward for each text."""
    said, calls = [], []
    model = writer(oracle)

    def read(tokens, last):
        calls.append(len(said))
        return model(tokens, last)

    one = task(pairs=(3,), trials=2, query=("last",), generate=generate, batch_tokens=1)
    setting = Setting(None, VOCABULARY, L)
    one.run(read, setting, lambda done, total: said.append((done, total)))
    texts = 3 * 2 * (2 if generate else 1)
    assert calls[0] == 1 and said[0][0] == 0
    assert len({done for done, _ in said}) >= texts
    counts = [done for done, _ in said]
    assert counts == sorted(counts) and len({total for _, total in said}) == 1
    assert counts[-1] == said[0][1]
