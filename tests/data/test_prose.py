"""English out of docstrings: what counts as prose, split by package, read without running code."""

from importlib.metadata import version

import pytest

from extrap.data.corpora import prose
from extrap.data.corpora.prose import Prose, docstrings, is_new, paragraphs
from extrap.data.tokenizer import encoder
from extrap.utils.errors import UserError
from tests.support.discover import node

SENTENCE = "Returns the largest distance between two points of a set that lies in the plane."


@pytest.mark.parametrize(
    "docstring, kept",
    [
        (SENTENCE, 1),
        (SENTENCE.replace(" of a set", "\n    of a set"), 1),
        (f"{SENTENCE}\n\n{SENTENCE}", 2),
        ("Returns the largest distance of a set.", 0),
        (f">>> distance(points)\n{SENTENCE}", 0),
        (f"Args:\n    points: {SENTENCE}", 0),
        (f":param points: {SENTENCE}", 0),
        (f"- {SENTENCE}\n- {SENTENCE}", 0),
        (f"===== =====\n{SENTENCE}", 0),
        (SENTENCE.rstrip("."), 0),
        (SENTENCE.lower(), 0),
        ("Adds x_1 = f(x), y[0] -> z{2} and a + b * c == d or e != f as usual here.", 0),
    ],
)
def test_a_paragraph_of_sentences_is_prose_and_nothing_else(docstring, kept):
    assert [*paragraphs(docstring)] == [SENTENCE] * kept


def test_repeated_text_is_left_out_though_a_word_differs():
    seen = set()
    assert is_new(SENTENCE, seen)
    assert not is_new(SENTENCE, seen)
    assert not is_new(SENTENCE.replace("plane", "sphere"), seen)
    assert is_new("The weather of the coast is colder than the weather of the hills today.", seen)


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Packages `read` and `kept_back`, whose code fails if it runs."""
    for package, subject in (("read", "points"), ("kept_back", "rivers")):
        folder = tmp_path / package
        for place in (folder, folder / "deep", folder / "tests"):
            place.mkdir()
            text = SENTENCE.replace("points", f"{subject} of {place.name}").replace(
                "a set", subject
            )
            (place / "__init__.py").write_text(f'"""{text * 3}"""\nraise SystemExit("ran")\n')
        (folder / "broken.py").write_text("def (")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(prose, "PACKAGES", ("read",))
    monkeypatch.setattr(prose, "HELD", ("kept_back",))
    monkeypatch.setattr(prose, "version", lambda package: "1")


@pytest.mark.usefixtures("packages")
def test_packages_are_split_whole_and_their_code_never_runs(tmp_path):
    source = Prose(document_tokens=100)
    found = [(source.split_for(name), text.decode()) for name, text in source.documents()]
    whole = {split: "".join(t for s, t in found if s == split) for split in ("train", "validation")}
    assert "points of read" in whole["train"] and "points of deep" in whole["train"]
    assert "rivers" in whole["validation"] and "rivers" not in whole["train"]
    assert "tests" not in whole["train"]
    assert max(len(text) for _, text in found) == 100
    assert source.open(cache=tmp_path / "cache").sha256 == source.open(cache=tmp_path / "b").sha256
    assert source.state() is None, "files so new may change once more in the same moment"


@pytest.mark.usefixtures("packages")
def test_a_missing_package_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "HELD", ("not_there",))
    monkeypatch.setattr(prose, "version", version)  # which no package here has
    with pytest.raises(UserError, match="needs the package not_there") as caught:
        Prose().open(tmp_path)
    assert caught.value.option == "data/corpus"
    assert "pip install -c " in caught.value.remedy, "another version changes the text"


def test_docstrings_come_from_classes_and_functions_too(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""One."""\nclass A:\n    """Two."""\n    def f(self):\n        """Three."""\n'
    )
    assert docstrings(path) == ["One.", "Two.", "Three."]


def test_its_tokens_read_english():
    pieces = encoder(node("data/vocabulary", "prose")["tokenizer"])
    ids, sizes = pieces(SENTENCE.encode())
    assert pieces.ids == 2048
    assert pieces.decode(ids.tolist()) == SENTENCE
    assert sizes.sum() == len(SENTENCE) and len(ids) < len(SENTENCE) / 2.5
