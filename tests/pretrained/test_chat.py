"""Retrieval in the turns of a chat template: token for token what transformers renders, and of the
length that is asked for.
"""

import json
import warnings
from functools import partial

import numpy as np
import pytest

from extrap.data.context import Context
from extrap.data.facts import Template
from extrap.data.keyvalue import Padded, Records
from extrap.data.multidoc import DocumentForm
from extrap.data.multivalue import needles
from extrap.data.nth import NthForm
from extrap.data.trials.base import Trials
from extrap.data.trials.json_prompt import generate
from extrap.pretrained.vocabulary import OfTokenizer, PublishedVocabulary
from extrap.results import rows
from extrap.tasks.lost_in_the_middle import Asked
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_gguf, word_tokenizer
from tests.support.checkpoint_jobs import asked, measured, placed
from tests.support.hand import Texts

CHAT = (
    "{{ bos_token }}{% for m in messages %}{% if loop.first and m['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def written(folder, template=CHAT):
    """tokenizer.json and tokenizer_config.json, as transformers has them."""
    from tokenizers import Tokenizer

    word_tokenizer.written(folder)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    made.save(str(folder / "tokenizer.json"))
    config = {"bos_token": {"content": "<bos>"}, "chat_template": template}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def theirs(folder):
    from transformers import PreTrainedTokenizerFast

    file = str(folder / "tokenizer.json")
    return PreTrainedTokenizerFast(tokenizer_file=file, chat_template=CHAT, bos_token="<bos>")


@pytest.fixture(scope="module")
def plain(folder):
    return PublishedVocabulary.of_folder(folder, 1000, 0, "here")


@pytest.fixture(scope="module")
def spoken(folder):
    return PublishedVocabulary.of_folder(folder, 1000, 0, "here", chat=True)


@pytest.fixture(scope="module")
def stream(plain):
    ids = plain.encoder(b"x y z, 1 2 3. " * 200)[0]
    return Texts([ids, ids[::-1]]).stream("validation")


def ids_of(theirs, text: str) -> list[int]:
    said = [{"role": "user", "content": text}]
    return theirs.apply_chat_template(said, add_generation_prompt=True, return_dict=False)


def same(theirs, plain, before: np.ndarray, after: np.ndarray, tail: int) -> None:
    """Rows without a dialogue, and in one."""
    for row, turned in zip(before, after, strict=True):
        end = len(row) - tail
        text = plain.encoder.decode(row[1:end].tolist())
        assert turned.tolist() == [*ids_of(theirs, text), *row[end:].tolist()]


FORMS = {"records": Records, "padded": partial(Padded, 2), "nth": partial(NthForm, 3)}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("depth", [0, 0.5, 1])
def test_questions_are_rendered_as_transformers_does(name, depth, theirs, plain, spoken, stream):
    form, n = FORMS[name](layout=plain.words.layout), 90
    short = n - spoken.turns.extra
    draws = [np.random.default_rng((0, form.code, n, i)) for i in range(3)]
    before = [form.question(Context(rng, plain.words, stream, short), depth) for rng in draws]
    found = form.questions(Trials(spoken.words, stream, n, range(3)), depth)
    assert found.tokens.shape == (3, n)
    assert np.array_equal([one.answers for one in before], found.answers)
    same(theirs, plain, np.stack([one.tokens for one in before]), found.tokens, before[0].tail)
    key = found.tokens[0, -2]
    if name != "nth":
        gold = np.flatnonzero(found.tokens[0] == key)[0]
        assert found.distance == n - 2 - gold


@pytest.mark.parametrize("queries, tail", [(1, 2), (3, 10)])
def test_needles_are_rendered_as_transformers_does(queries, tail, theirs, plain, spoken, stream):
    asked = Trials(plain.words, stream, 90 - spoken.turns.extra, range(2))
    before = needles(asked, 3, queries)
    after = needles(Trials(spoken.words, stream, 90, range(2)), 3, queries)
    same(theirs, plain, before.tokens, after.tokens, tail)
    assert set(after.distances - before.distances) == {len(spoken.turns.behind)}


def test_documents_are_rendered_as_transformers_does(theirs, plain, spoken, stream):
    form, tail = DocumentForm(template := Template.of(plain.words, 1), True), template.each
    before = Trials(plain.words, stream, 90 - spoken.turns.extra, range(2))
    after = Trials(spoken.words, stream, 90, range(2))
    for made in (
        lambda trials: form.questions(trials, 0.5),
        lambda trials: form.without_search(trials, 1),
        lambda trials: form.retrieved(trials, 2, 0.5)[0],
    ):
        one, other = made(before), made(after)
        same(theirs, plain, one.tokens, other.tokens, tail)
        assert other.distance == one.distance + len(spoken.turns.behind)
    assert form.questions(after, 0).tokens.shape == (2, 90)


@pytest.mark.parametrize("query", ["last", "both", "first"])
def test_json_records_are_rendered_as_transformers_does(query, theirs, spoken):
    example = generate(3, 6, 0, 0)
    (found,), _ = Asked([example], query, spoken, print, 1).prompts(1)
    assert found.tolist() == ids_of(theirs, example.prompt(1, query)[0])


@pytest.mark.usefixtures("elsewhere")
def test_a_checkpoint_is_asked_in_its_turns(elsewhere):
    """From the command line's option to rows: a series and a run of its own, lengths as asked."""
    placed(elsewhere)
    place = written(elsewhere / "chat")
    tiny.made("llama", vocab_size=1000, max_position_embeddings=64).save_pretrained(place)
    small = ["task=[kv]", "task.kv.multiples=[0.75,1]", "task.kv.depths=[0,0.5,1]"]
    small += ["task.kv.trials=2", "task.kv.pairs=2", "model.bos=0", "model.checkpoint=chat"]
    this = measured(*small, "model.chat=true")
    assert this.label == "checkpoint-chat" and asked(*small).label == "checkpoint"
    assert asked(*small).run.config != this.run.config
    kv = rows.read(this.results)
    kv = kv[(kv.task == "kv") & (kv.metric == "guess") & (kv.protocol == "records")]
    assert kv.length.tolist() == [48, 64]
    again = this.source.again(this.config, this.choices)
    assert again.vocabulary is this.source.vocabulary, "under each extension a line told it again"
    turns = this.source.vocabulary.turns
    held = [(n - turns.extra - 3) // 4 for n in (48, 64)]
    values = this.source.vocabulary.words.values
    assert kv.value.tolist() == pytest.approx([1 / k + (1 - 1 / k) / values for k in held])
    with pytest.raises(UserError) as error:
        _ = asked(*small, "model.chat=true", "task.kv.multiples=[0.4,1]").tasks
    assert error.value.option == "task.kv" and "model.chat=false" in error.value.remedy


@pytest.mark.parametrize("way", ["{{{{ {} }}}}", "{{% set day = {} %}}{{{{ day }}}}"])
@pytest.mark.parametrize("start", ["", "\n", "  {% if true %}{% endif %}"])
def test_the_date_of_a_template_is_that_of_a_fixed_day(way, start, theirs, tmp_path):
    """Else the ids, and with them the name of the run, would be others every day. What stands
    around the date is as transformers renders it.
    """
    format = "%d %b %Y, %A %d %B %Y-%m-%d %H:%M"
    text = "26 Jul 2024, Friday 26 July 2024-07-26 12:00"
    dated = start + way.format(f"strftime_now('{format}')") + CHAT
    folder = written(tmp_path, dated)
    found = PublishedVocabulary.of_folder(folder, 1000, 0, "here", chat=True).turns
    said = {"conversation": [{"role": "user", "content": ""}], "return_dict": False}
    whole = theirs.apply_chat_template(
        chat_template=start + f"{{{{ '{text}' }}}}" + CHAT, add_generation_prompt=True, **said
    )
    assert [*found.before, *found.behind] == whole


def test_a_template_lies_in_a_gguf_file_too(tmp_path):
    from extrap.pretrained.checkpoint import Checkpoint

    model = tiny.made("llama", vocab_size=len(tiny_gguf.words()), **tiny.rope("default"))
    path = tiny_gguf.written(tmp_path / "m.gguf", model, tokenizer__chat_template=CHAT)
    checkpoint = Checkpoint(str(path), tmp_path / "cache")
    turns = PublishedVocabulary.of_folder(checkpoint.folder, 265, 0, "here", chat=True).turns
    assert turns.before[:2] == (0, 1)  # <|endoftext|>, its BOS, and <|im_start|>


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (None, "no chat template in it"),
        ("{{ bos_token }} nothing is asked", "holds the text of a user 0 times"),
        (CHAT + CHAT, "holds the text of a user 2 times"),
        ("{% for", "cannot be rendered"),
        ("{{ raise_exception('no users here') }}", "cannot be rendered (no users here)"),
        (
            "{{ ''.__class__.__mro__[1].__subclasses__() }}",
            "cannot be rendered (access to",
        ),
        ("{{ messages.clear() }}", "cannot be rendered"),
        ("{{ cycler.__init__.__globals__.os.mkdir('x') }}" + CHAT, "cannot be rendered"),
        ("{{ self.__init__.__globals__['os'].mkdir('x') }}" + CHAT, "cannot be rendered"),
        ("{{ messages[0].content.__class__.__mro__ }}" + CHAT, "cannot be rendered"),
        ("{% include '/etc/passwd' %}" + CHAT, "cannot be rendered"),
        ("{{ messages[0]['content'] }}", "nothing in front of a text"),
        ({"a": 1}, "no chat template in it"),
    ],
)
def test_a_template_that_is_none_is_one_line(template, expected, tmp_path):
    with pytest.raises(UserError) as error:
        PublishedVocabulary.of_folder(written(tmp_path, template), 1000, 0, "here", chat=True)
    assert expected in str(error.value) and "\n" not in str(error.value)
    assert "model.chat=false" in str(error.value)


def test_a_template_that_is_no_text_is_one_line(tmp_path):
    (written(tmp_path) / "chat_template.jinja").write_bytes(b"{{ \xff }}")
    with pytest.raises(UserError, match=r"chat_template\.jinja: not UTF-8 .*model\.chat=false"):
        PublishedVocabulary.of_folder(tmp_path, 1000, 0, "here", chat=True)


@pytest.mark.parametrize(
    "template, joined", [(CHAT, 0), ("Ask:\n{{ messages[0]['content'] }}\n\n", 1)]
)
def test_a_template_whose_tokens_merge_with_a_text_is_told(template, joined, tmp_path):
    """Two line breaks are one token."""
    place = written(tmp_path, template)
    made = json.loads((place / "tokenizer.json").read_text())
    made["model"]["vocab"]["\u010a\u010a"] = len(made["model"]["vocab"]) + 2
    made["model"]["merges"].append(["\u010a", "\u010a"])
    (place / "tokenizer.json").write_text(json.dumps(made))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        PublishedVocabulary.of_folder(place, 1000, 0, "here", chat=True)
    lines = [str(one.message) for one in told]
    assert len(lines) == joined and all("'a b\\n', have other tokens" in line for line in lines)


@pytest.mark.parametrize(
    "change, told",
    [
        *((" | trim", 0), (".strip()", 0), (" | e", 1), (" | upper", 1), (" | indent", 1)),
        *(("[:20]", 1), (".replace('\n\n', '\n')", 1), (".split('\n')[0]", 1)),
    ],
)
def test_a_template_that_changes_a_text_is_told(change, told, tmp_path):
    place = written(tmp_path, CHAT.replace("m['content']", f"(m['content']{change})"))
    with warnings.catch_warnings(record=True) as lines:
        warnings.simplefilter("always")
        PublishedVocabulary.of_folder(place, 1000, 0, "here", chat=True)
    assert ["changes the text of a user" in str(line.message) for line in lines] == [True] * told


SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"


@pytest.mark.parametrize(
    "behind, said, told",
    [
        (SWITCH, "<think></think>", 0),
        ("<think>", "<think>", 1),
        ("{# <|channel|>analysis #}", "", 1),
        ("<|channel|>final<|message|>", "<|channel|>final<|message|>", 0),
    ],
)
def test_a_model_that_thinks_answers_at_once_or_a_line_tells_it(behind, said, told, tmp_path):
    place = written(tmp_path, CHAT + behind)
    with warnings.catch_warnings(record=True) as lines:
        warnings.simplefilter("always")
        found = PublishedVocabulary.of_folder(place, 1000, 0, "here", chat=True)
    assert found.encoder.decode(found.turns.behind).endswith("<|im_start|>assistant\n" + said)
    thoughts = [line for line in lines if "opens a thought" in str(line.message)]
    assert len(thoughts) == told


@pytest.mark.parametrize("listed", [False, True])
def test_tokens_of_a_file_of_their_own_are_rendered_as_transformers_does(listed, tmp_path):
    """special_tokens_map.json counts where tokenizer_config.json lists no tokens."""
    from transformers import PreTrainedTokenizerFast

    bos = {"content": "<bos>", "special": True}
    config = {"chat_template": CHAT} | ({"added_tokens_decoder": {"0": bos}} if listed else {})
    (written(tmp_path) / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"bos_token": bos}))
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    found = PublishedVocabulary.of_folder(tmp_path, 1000, 0, "here", chat=True)
    text = "baka"
    ids = found.encoder(text.encode())[0].tolist()
    assert [*found.turns.before, *ids, *found.turns.behind] == ids_of(theirs, text)
    assert (found.turns.before[0] == 0) is not listed
    assert OfTokenizer(tmp_path).bos_token_id == (None if listed else 0)


@pytest.mark.parametrize(
    "special", ["<image_soft_token>", "\u2581<PRE>", "[IMG_BREAK]", "[UNUSED_TOKEN_145]"]
)
def test_a_special_token_past_the_ids_of_the_model_is_read_as_its_characters(tmp_path, special):
    from tokenizers import Tokenizer

    place = word_tokenizer.written(tmp_path)
    made = Tokenizer.from_file(str(place / "tokenizer.json"))
    size = made.get_vocab_size()
    text = f"a {special} b"
    before = made.encode(text, add_special_tokens=False).ids
    made.add_special_tokens([special])
    made.save(str(place / "tokenizer.json"))
    assert size in made.encode(text).ids
    read = PublishedVocabulary.of_folder(place, size, 0, "here").encoder
    assert read(text.encode())[0].tolist() == before
    roomy = PublishedVocabulary.of_folder(place, size + 1, 0, "here").encoder
    assert size in roomy(text.encode())[0]


@pytest.mark.parametrize(
    ("words", "marked", "fit"),
    [
        (["[IMG_BREAK]"], False, True),
        ([f"<loc{n:04}>" for n in range(100)], True, True),
        ([f"<loc{n:04}>" for n in range(100)], False, False),
        (["apples"], False, False),
    ],
)
def test_tokens_past_the_ids_of_the_model_are_of_no_text(tmp_path, words, marked, fit):
    from tokenizers import AddedToken, Tokenizer

    place = word_tokenizer.written(tmp_path)
    made = Tokenizer.from_file(str(place / "tokenizer.json"))
    size = made.get_vocab_size()
    made.add_tokens([AddedToken(word, special=marked) for word in words])
    made.save(str(place / "tokenizer.json"))
    if fit:
        PublishedVocabulary.of_folder(place, size, 0, "here")
        return
    with pytest.raises(UserError, match=f"a model of {size}; give the tokenizer of the model"):
        PublishedVocabulary.of_folder(place, size, 0, "here")
