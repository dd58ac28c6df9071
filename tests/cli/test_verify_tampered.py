"""Fifty ways to change a bundle, which `extrap verify` finds all; twenty honest ones pass."""

import hashlib
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest
import torch

from extrap.cli import publish
from tests.cli.test_verify import bundled, published, remade, summed, told

Change = Callable[[Path], None]
FIELDS = {
    "value": 12, "low": 3, "high": 3, "n": 3, "tokens": 2, "length": 2, "depth": 2, "protocol": 1,
    "metric": 1, "seed": 1, "train_length": 1, "scheme": 1, "params": 1, "study": 1, "status": 1,
    "corpus": 1, "config": 1, "run": 1,
}  # fmt: skip
"""Columns, and in how many places a row says something else there."""
WORDS_OF_JOBS = {
    "train.steps=8": "train.steps=9",
    "task.nll.documents=4": "task.nll.documents=5",
    "scheme=rope": "scheme=nope",
    "data.text.size=4": "data.text.size=5",
    '"extension": "direct"': '"extension": "ntk"',
}
NAMED = {"status": "not trained", "scheme": "nope", "protocol": "padded", "metric": "recall"}


def field(column: str, place: int, folder: Path) -> None:
    """One field of one row; all that follows from the rows is written anew."""
    rows = published(folder)
    given = [row for row in rows if row[column] and row[column] != NAMED.get(column)]
    row = given[place * 37 % len(given)]
    if column == "corpus":  # no card is made of two texts
        rows = [one | {column: "abcdef012345"} for one in rows]
    if column in ("value", "low", "high", "depth"):
        row[column] = repr(float(row[column]) * 1.05 + 0.02 * (1 - 2 * (column == "low")))
        row["high"] = row["high"] and repr(max(float(row["value"]), float(row["high"])))
    elif row[column].isdecimal():
        row[column] = str(int(row[column]) + 1)
    else:
        row[column] = NAMED.get(column, "abcdef012345")
    remade(folder, rows)


def word(said: str, folder: Path) -> None:
    path = folder / publish.JOBS
    text = path.read_text()
    assert said in text
    path.write_text(text.replace(said, WORDS_OF_JOBS[said]))


def tensor(place: int, folder: Path) -> None:
    """One tensor of the weights, with the sum of the run."""
    (path,) = folder.glob("runs/*/weights.pt")
    held = torch.load(path, weights_only=True)
    name = [name for name, one in held.items() if one.dim() == 2][place]
    held[name] = held[name] + 0.5
    torch.save(held, path)
    state = path.with_name("state.json")
    kept = json.loads(state.read_text())
    kept["files"]["weights.pt"] = hashlib.sha256(path.read_bytes()).hexdigest()
    state.write_text(json.dumps(kept))


def file(pattern: str, folder: Path) -> None:
    """A digit of a file that follows from the rows, or of what training kept."""
    path = next(folder.glob(pattern))
    text = path.read_text()
    place = next(n for n, one in enumerate(text) if one in "12345678" and n > len(text) // 2)
    path.write_text(f"{text[:place]}{int(text[place]) + 1}{text[place + 1 :]}")


def recipe(folder: Path) -> None:
    """The configuration of the weights, without that of the jobs."""
    (path,) = folder.glob("runs/*/config.json")
    kept = json.loads(path.read_text())
    kept["identity"]["train"]["steps"] += 1
    path.write_text(json.dumps(kept))


def gone(task: str, folder: Path) -> None:
    """Rows of a task, of no kind all of them."""
    draw, rows = random.Random(0), published(folder)
    remade(folder, [row for row in rows if row["task"] != task or draw.random() < 0.6])


CHANGES: dict[str, Change] = {
    f"{column}-{n}": partial(field, column, n)
    for column, many in FIELDS.items()
    for n in range(many)
}
CHANGES |= {f"words-{n}": partial(word, said) for n, said in enumerate(WORDS_OF_JOBS)}
CHANGES |= {f"weights-{n}": partial(tensor, n) for n in range(4)}
FILES = ("card.yaml", "card-1.svg", "README.md", ".eval_results/*.yaml", "runs/*/curve.json")
CHANGES |= {name: partial(file, name) for name in FILES}
CHANGES["recipe"] = recipe
CHANGES |= {f"gone-{task}": partial(gone, task) for task in ("nll", "kv", "train")}


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    return bundled(tmp_path_factory.mktemp("study"))


@pytest.mark.whole
@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_found_with_the_sums_of_before_and_with_new_ones(
    honest: Path, elsewhere: Path, capsys, name: str
) -> None:
    own = Path(copytree(honest, elsewhere / "bundle"))
    CHANGES[name](own)
    assert told(own, capsys).startswith("2 ")
    summed(own)
    assert told(own, capsys).startswith("2 ")


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(20))
def test_honest_bundles_pass(honest: Path, elsewhere: Path, capsys, seed: int) -> None:
    """Rows of other machines, which round otherwise, with and without rows of some kind."""
    draw, own = random.Random(seed), Path(copytree(honest, elsewhere / "bundle"))
    rows = published(own)
    for row in rows if seed else []:
        for name in ("value", "low", "high"):
            row[name] = row[name] and repr(float(row[name]) * (1 + draw.uniform(-1, 1) * 1e-6))
    rules = draw.choice([[], [{"depth": 0.5}], [{"metric": "guess"}], [{"task": "train"}]])
    left = [
        row for row in rows if not any(row[name] == str(x) for r in rules for name, x in r.items())
    ]
    path = own / publish.JOBS
    if rules:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"left_out": rules}))
    remade(own, left, rules)
    summed(own)
    assert (said := told(own, capsys, *["--train"] * (seed % 7 == 0))).startswith("0 "), said


def test_there_are_fifty_changes() -> None:
    assert len(CHANGES) >= 50
