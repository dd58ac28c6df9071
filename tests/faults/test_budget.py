"""The budget of what is read from others: a test for each line of the table in SECURITY.md, with
data that would hang, or take all memory, without it.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hydra.core.global_hydra import GlobalHydra

from extrap.cli import config_budget
from extrap.cli.composed import Composed, composed
from extrap.data import tokenizer
from extrap.data.corpora import files
from extrap.data.corpora.files import Files
from extrap.engine import client
from extrap.pretrained import chat
from extrap.pretrained.checkpoint import Checkpoint
from extrap.results import packed, packed_items, rows
from extrap.results.findings import numbers
from extrap.runs import checkpoint
from extrap.runs.folder import digest
from extrap.utils.bounded import Exceeded, bounded
from extrap.utils.errors import UserError
from extrap.utils.untrusted import check_yaml
from tests.faults.test_configurations import experiment, started
from tests.support import tiny_checkpoints as tiny
from tests.support.program import python

PAGE = Path(__file__).parents[2] / "SECURITY.md"
HUGE = 2**40


def sparse(path: Path) -> Path:
    """A file of a terabyte of zeros that takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        os.truncate(file.fileno(), HUGE)
    return path


def one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UserError) as found:
        call()
    assert re.search(said, str(found.value)) and len(str(found.value).splitlines()) == 1


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    GlobalHydra.instance().clear()


def compose(text: str) -> Composed:
    experiment("x", text)
    return composed(["experiment=x"], Path("theirs"))


def configuration() -> None:
    sparse(Path("a.yaml"))
    one_line(lambda: check_yaml(Path("a.yaml")), r"a\.yaml: larger than 1 MiB")


def defaults() -> None:
    many = "".join(f"  - /task@task.t{n}: nll\n" for n in range(config_budget.FILES))
    one_line(lambda: compose(f"defaults:\n{many}"), "its defaults choose more than 300 files")
    one_line(lambda: compose("defaults: [x]"), "its defaults choose more than 300 files")


def references() -> None:
    lists = ["data:\n  a0: [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    for n in range(1, 9):
        before = f"'${{data.a{n - 1}}}'"
        lists.append(f"  a{n}: [{', '.join([before] * 9)}]")
    one_line(lambda: compose("\n".join(lists)), "more than 2,000 references to write out")
    large, again = ", ".join(["1"] * 5000), ", ".join(["'${data.a}'"] * 30)
    texts = f"data:\n  a: [{large}]\n  b: [{again}]"
    one_line(lambda: compose(texts), "more than 100,000 values")
    words = f"data:\n  a: {'x' * 50_000}\n  b: '{'${data.a}' * 30}'"
    one_line(lambda: compose(words), "texts of more than 1,048,576 characters")


def grids() -> None:
    experiment("x", f"sweep: {{grid: {{seed: {[*range(101)]}, train.steps: {[*range(1, 101)]}}}}}")
    done = started("experiment=x")
    assert done.returncode == 2
    assert done.stderr == "extrap: sweep.grid: more than 10,000 jobs; give fewer values\n"


def tables() -> None:
    sparse(Path("results/s/rows/a.csv"))
    one_line(lambda: rows.read("results/s"), r"a\.csv: larger than 256 MiB")
    one_line(lambda: rows.read_items("results/s/rows/a.csv"), r"a\.csv: larger than 256 MiB")
    sparse(Path("tokenizer.json"))
    one_line(lambda: tokenizer.encoder("tokenizer.json"), "larger than 256 MiB")
    nested = '{"type": "Sequence", "pretokenizers": [' * 50_000
    Path("tokenizer.json").write_text('{"version": "1.0", "pre_tokenizer": ' + nested)
    one_line(lambda: tokenizer.encoder("tokenizer.json"), "no tokenizer.json .*recursion limit")


def packed_rows() -> None:
    """A column of equal values takes a few bytes and stands for any number of rows."""
    alike = pa.nulls(packed.MOST + 1)
    table = pa.table(dict.fromkeys(packed.OWN, alike))
    pq.write_table(table, "rows.parquet", row_group_size=len(alike))
    assert Path("rows.parquet").stat().st_size < 2**18
    one_line(lambda: packed.read(Path("rows.parquet")), f"{packed.MOST} are the most")
    table = pa.table(dict.fromkeys(packed_items.OWN, alike))
    pq.write_table(table, "items.parquet", row_group_size=len(alike))
    one_line(lambda: packed_items.read(Path("items.parquet")), f"{packed.MOST} are the most")


def replacements() -> None:
    from tokenizers import Tokenizer, models, normalizers

    made = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    for count, honest in ((1, True), (3, False)):
        made.normalizer = normalizers.Sequence([normalizers.Replace("a", "a" * 100)] * count)
        made.save("tokenizer.json")
        if honest:
            assert len(tokenizer.encoder("tokenizer.json")(b"ab")[0]) == 101
            continue
        one_line(lambda: tokenizer.encoder("tokenizer.json"), "a text 1,000,000 times as long")


def weights() -> None:
    path = sparse(Path("weights.pt"))
    assert digest(path) == ""
    one_line(lambda: checkpoint.load(path), "larger than the memory of this machine")
    for name in ("model.safetensors", "model.gguf"):
        sparse(Path("theirs", name))
        Path("theirs/config.json").write_text('{"model_type": "llama"}')
        place = "theirs" if name.endswith("s") else f"theirs/{name}"
        one_line(lambda place=place: Checkpoint(place).model(), "larger than the memory")


def checkpoints() -> None:
    pytest.importorskip("transformers")
    folder = Path("tiny")
    tiny.made("llama").save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_text())
    for name, value in (("num_hidden_layers", 10**7), ("hidden_size", 10**9)):
        (folder / "config.json").write_text(json.dumps(settings | {name: value}))
        for read in (Checkpoint.model, Checkpoint.untrained):
            one_line(lambda read=read: read(Checkpoint(str(folder))), "layers=|far more numbers")
    (folder / "config.json").write_text(json.dumps(settings | {"extrap_layout": 5}))
    one_line(Checkpoint(str(folder)).model, "extrap_layout=5: expected half or interleaved")
    (folder / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 9000}))
    one_line(Checkpoint(str(folder)).model, "far more modules than the weights fill")


def files_of_text() -> None:
    Path("text").mkdir()
    for n in range(4):
        Path(f"text/{n}.txt").write_text("x")
    for path in ("text", "**"):
        one_line(lambda path=path: list(Files(path=path).documents()), "leads to more than 3 files")


def patterns() -> None:
    Path("a.txt").write_text("a word and no number at the end of this line\n" * 9)
    corpus = Files(path="a.txt", begins=r"(\w+\s?)+\d$")
    one_line(lambda: list(corpus.documents()), r"begins=.*: takes more than \d+ s on a\.txt")


def templates() -> None:
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    for text, said in (
        ("{{ 'x' * 1000000000 }}", "needs more than 0.5 GiB"),
        ("{{ 'x' * 2000000 }}", "writes more than 1,048,576 characters"),
        (loops, "takes more than"),
        ("{{ (7 ** 30000000) > 1 }}", "takes more than"),
    ):
        one_line(lambda text=text: chat._rendered(text, {}, "theirs"), said)


def answers() -> None:
    large = httpx.MockTransport(
        lambda _: httpx.Response(200, content=iter([b" " * (client.MOST + 1)]))
    )
    engine = client.Client("http://127.0.0.1:9/v1", tries=1)
    engine._http = httpx.Client(transport=large)
    one_line(lambda: engine.get("models"), "answers with more than 1 MiB")


def formats() -> None:
    where = "numbers.yaml"
    for form in ("99999999", ".99999999f", "+999f"):
        one_line(lambda form=form: numbers.formatted(0.5, form, where), "no format")
    assert numbers.formatted(0.5, "+.2f", where) == "+.50"


BUDGET = {
    "a file of configuration": configuration,
    "defaults of a configuration": defaults,
    "references in a configuration": references,
    "jobs of the grids of a file": grids,
    "rows, items, a tokenizer": tables,
    "packed rows, packed items": packed_rows,
    "what a tokenizer writes for a text": replacements,
    "weights": weights,
    "what a checkpoint's configuration builds": checkpoints,
    "files and folders of a text": files_of_text,
    "`data.corpus.begins` on a text": patterns,
    "an answer of an engine": answers,
    "a chat template": templates,
    "formats in `numbers.yaml`": formats,
}
"""A line of the table in SECURITY.md, and its test."""


@pytest.fixture
def small(monkeypatch):
    """Smaller limits of whatever takes long up to them."""
    monkeypatch.setattr(files, "MOST", 3)
    monkeypatch.setattr(files, "SECONDS", 0.2)
    monkeypatch.setattr(chat, "SECONDS", 0.5)
    monkeypatch.setattr(client, "MOST", 2**20)


@pytest.mark.turns
@pytest.mark.parametrize("line", BUDGET)
def test_the_budget(line, small):
    BUDGET[line]()


def test_the_table_of_the_budget_is_whole():
    table = PAGE.read_text().partition("| what | at most |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (.*?) \|", table, re.MULTILINE)[1:] == [*BUDGET]


def test_limits_are_lifted_afterwards():
    with pytest.raises(Exceeded, match="GiB"), bounded(5, 2**24):
        bytes(2**30)
    assert len(bytes(2**28)) == 2**28
    with pytest.raises(ZeroDivisionError), bounded(5, 2**24):
        _ = 1 / 0


def test_a_job_says_that_its_sweep_has_ended():
    done = python("-m", "extrap", "--cfg", "job", EXTRAP_SWEEP="1")
    assert done.returncode == 1
    assert done.stderr.startswith("extrap: EXTRAP_SWEEP=1: the sweep of this job has ended; unset")


def test_honest_references_are_few():
    found = compose("label: a-${seed}\ntrain: {steps: 3}\nstudy: s${train.steps}")
    assert (found.values["label"], found.values["study"]) == ("a-0", "s3")
