"""Typed values: a text stays as it was typed, and a number names one run in each spelling."""

from datetime import datetime
from pathlib import Path

import pytest

from extrap.cli.composed import composed
from extrap.cli.values import settled
from extrap.cli.words import readable
from extrap.utils.errors import UserError

FILES = ("data/corpus=files", "data.corpus.path=here")
STACK = ("scheme=rope-logn",)
YEAR = datetime.now().year


def value(option: str, *words: str) -> object:
    found = settled(composed(words))
    for name in option.split("."):
        found = found[int(name) if name.isdecimal() else name]
    return found


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("study", ()),
        ("data.corpus.path", ("data/corpus=files",)),
        ("data.corpus.column", FILES),
        ("model.checkpoint", ("model=checkpoint",)),
        ("logger.project", ()),
    ],
)
@pytest.mark.parametrize("text", ["2024_11_25", "1e3"])
def test_a_text_is_as_it_was_typed(option: str, words: tuple, text: str) -> None:
    assert value(option, *words, f"{option}={text}") == text


@pytest.mark.parametrize(
    ("option", "words", "expected"),
    [
        ("scheme.base", ("scheme.base=10000",), 10000.0),
        ("scheme.base", ("scheme.base=1e4",), 10000.0),
        ("scheme.base", ("scheme.base=500",), 500.0),
        ("scheme.base", ("scheme.base=${now:%Y}",), float(YEAR)),
        ("scheme.parts.0.base", (*STACK, "scheme.parts.0.base=1e5"), 100000.0),
        ("scheme.parts.0.base", (*STACK, "scheme.parts.0.base=10000"), 10000.0),
        ("scheme.parts.1.floor", (*STACK, "scheme.parts.1.floor=1"), 1.0),
        ("model.ratio", ("model.ratio=4",), 4.0),
        ("data.text.weight", ("data.text.weight=3",), 3.0),
        ("finetune.alpha", ("finetune=lora", "finetune.alpha=16"), 16.0),
        ("finetune.factor", ("finetune=full", "finetune.factor=2.0"), 2),
        ("train.lr", ("train.lr=1e-3",), 0.001),
        ("train.steps", ("train.steps=1_000",), 1000),
        ("task.kv.multiples", ("task.kv.multiples=[1e0,2]",), [1.0, 2]),
        ("extension.factor", ("extension=yarn", "extension.factor=8"), 8),
        ("keep_going", ("keep_going=True",), True),
        ("label", ("label=null",), None),
        ("label", ("label=0.10",), "0.10"),
        ("label", ("label=7",), "7"),
        ("label", ("label=true",), "true"),
        ("label", ("label=${scheme.base}x",), "10000.0x"),
        ("label", ("label=${scheme.base}x", "scheme.base=500"), "500.0x"),
        ("label", ("experiment=base", "sweep.grid=null", "scheme.base=5e2"), "rope_base500.0"),
        ("label", ("label=${now:%Y}_${train.lr}", "train.lr=1e-3"), f"{YEAR}_0.001"),
        ("seed", ("seed=${now:%Y}",), YEAR),
    ],
)
def test_a_number_has_the_type_of_its_option(option: str, words: tuple, expected: object) -> None:
    assert repr(value(option, *words)) == repr(expected)


def test_a_number_of_an_experiment_names_one_run_in_each_spelling(tmp_path: Path) -> None:
    file = tmp_path / "experiment" / "mine.yaml"
    file.parent.mkdir()
    options = "scheme: {base: 10000}\ndata: {text: {weight: 3}}\nmodel: {ratio: 4}"
    file.write_text(f"# @package _global_\nstudy: mine\nlabel: ${{data.text.weight}}\n{options}\n")
    typed = ("scheme.base=10000.0", "data.text.weight=3.0", "model.ratio=4.0")
    found = settled(composed(["experiment=mine"], tmp_path))
    expected = settled(composed(["study=mine", "label=3.0", *typed]))
    for group in ("label", "scheme", "model", "data"):
        assert repr(found[group]) == repr(expected[group])


@pytest.mark.parametrize("name", ["7", "2024", "0.5"])
def test_a_number_is_a_name_of_a_file_if_it_is_spelled_alike(name: str, tmp_path: Path) -> None:
    file = tmp_path / "experiment" / "mine.yaml"
    file.parent.mkdir()
    file.write_text(f"# @package _global_\nstudy: {name}\nlabel: {name}\n")
    found = settled(composed(["experiment=mine"], tmp_path))
    assert (found["study"], found["label"]) == (name, name)


def test_a_number_of_an_experiment_of_extrap_keeps_the_form_of_its_rows() -> None:
    """The runs of the study `tasks` were named with kept=1."""
    words = ("experiment=tasks", "sweep.grid=null")
    typed = [f"data.curriculum.kept={kept}" for kept in ("1", "1.0")]
    for more in ((), *((word,) for word in typed)):
        assert repr(value("data.curriculum.kept", *words, *more)) == "1"


def test_a_reference_to_no_number_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^seed: .*must be a whole number"):
        composed(["seed=${label}x"])


def test_the_values_of_a_sweep_stay_as_typed() -> None:
    words = readable(["-m", "study=2024_11_25,b", "seed=1,2", "task.kv.multiples=[1e0,2]"])
    assert words[1:] == ["study='2024_11_25',b", "seed=1,2", "task.kv.multiples=['1e0',2]"]
