"""The hub without a network: what is asked, what becomes of its answers, what fails."""

import huggingface_hub
import pytest

from extrap.data.corpora.hub import Hub
from extrap.data.corpora.pieces import pieces
from extrap.data.encoder import BYTES
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Setting
from extrap.tasks.nll import NLL
from extrap.utils.errors import UserError

ROWS = [{"text": f"row {i}\n", "n": i} for i in range(60)] + [
    {"text": "", "n": 0},
    {"text": None, "n": 0},
]


@pytest.fixture
def hub(monkeypatch):
    """A hub with one data set; what was asked of `datasets` is noted."""
    import datasets

    asked = []

    def load(path, **options):
        asked.append((path, options))
        return datasets.IterableDataset.from_generator(lambda: iter(ROWS))

    def info(self, name, revision=None, timeout=None):
        assert timeout
        return huggingface_hub.hf_api.DatasetInfo(
            id=name, sha=f"commit of {revision}", downloads=0, likes=0, tags=[]
        )

    monkeypatch.setattr(datasets, "load_dataset", load)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    return asked


def read(source: Hub) -> list[tuple[str, bytes]]:
    found = pieces(source.documents(), BYTES, source.longest, source.most)
    return [(piece.name, piece.text) for piece in found]


@pytest.fixture
def no_network(monkeypatch):
    def info(self, *args, **options):
        raise OSError("Name or service not known\nmore")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)


def test_rows_are_documents(hub):
    found = list(Hub(name="me/set", config=None, join=None, revision="v1").documents())
    assert found == [(str(i), f"row {i}\n".encode()) for i in range(60)]
    ((path, options),) = hub
    assert (path, options["name"], options["split"], options["revision"], options["streaming"]) == (
        "me/set",
        None,
        "train",
        "commit of v1",
        True,
    )


def test_rows_are_lines_of_one_text(hub):
    text = "".join(f"row {i}\n-" for i in range(60)).encode()
    found = read(Hub(join="-", document_tokens=100))
    assert b"".join(piece for _, piece in found) == text
    assert [len(piece) for _, piece in found[:-1]] == [100] * (len(text) // 100)
    assert [name for name, _ in found] == [str(i) for i in range(len(found))]


def test_no_more_is_read_than_the_limit(hub):
    assert sum(len(text) for _, text in read(Hub(join=None, limit=50))) == 50


@pytest.mark.parametrize("limit, named", [(300, True), (10**6, False)])
def test_a_limit_is_named_where_it_ended_the_text(hub, tmp_path, limit, named):
    """By what finds the text too short: a window of training, a task, the splits."""
    given = {"name": "me/set", "join": "", "limit": limit}
    corpus = Hub(**given, document_tokens=5).open(tmp_path)
    wanted = NLL(multiples=(1,), documents=1000)
    for check in (
        lambda: corpus.check("train", 1000),
        lambda: wanted.check(Setting(corpus, Vocabulary(), 2)),
        lambda: Hub(**given, document_tokens=1000).open(tmp_path),
    ):
        with pytest.raises(UserError) as error:
            check()
        assert (f", or raise data.corpus.limit={limit}" in str(error.value)) == named


def test_a_set_is_read_once(hub, tmp_path, request):
    source = Hub(name="me/set", config="c", join=None, validation=0.3)
    first = source.open(tmp_path)
    assert first.name == "me/set/c"
    request.getfixturevalue("no_network")
    assert source.open(tmp_path).sha256 == first.sha256
    assert len(hub) == 1


def test_without_network_the_embedded_choices_are_named(no_network, tmp_path):
    with pytest.raises(UserError) as error:
        Hub(name="me/set").open(tmp_path)
    assert (error.value.option, error.value.value) == ("data.corpus.name", "me/set")
    assert "data/corpus=torch" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("kind", [RuntimeError, NotImplementedError, ImportError])
def test_a_set_that_datasets_cannot_read_is_one_line(kind, hub, tmp_path, monkeypatch):
    """One with a script, or of archives."""
    import datasets

    def load(path, **given):
        raise kind("Dataset scripts are no longer supported, but found set.py\nmore lines")

    monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(UserError) as error:
        Hub(name="me/set").open(tmp_path)
    assert error.value.option == "data.corpus.name" and "\n" not in str(error.value)


@pytest.mark.parametrize("options", [{"column": "body"}, {"column": "n"}, {"split": "dev"}])
def test_what_the_set_does_not_have_is_one_line(hub, tmp_path, monkeypatch, options):
    import datasets

    def load(path, **given):
        raise ValueError("Bad split: dev\nmore lines")

    if "split" in options:
        monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(UserError) as error:
        Hub(name="me/set", **options).open(tmp_path)
    assert error.value.option == "data.corpus.name" and "\n" not in str(error.value)
