"""What a person sees after a mistake, wherever it lies: one line that names the option or the file,
exit code 2, and nothing lost.

messages.txt holds the lines. The tables are cases_whole.py (the program as it is started),
cases_options.py (options of what is chosen), cases_files.py (text, records, tokenizers) and
cases_runs.py (rows and runs).
"""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from extrap.cli import table
from extrap.cli.composed import composed
from extrap.cli.program import job
from extrap.cli.shared import reported
from extrap.runs import checkpoint
from extrap.runs.evaluate import trained_model
from extrap.runs.folder import read_json, write_json
from extrap.runs.training import trainer as resume
from extrap.utils import untrusted
from tests.faults import cases_files, cases_options, cases_runs, cases_whole
from tests.faults import test_commands as commands
from tests.faults import test_in_the_way as in_the_way
from tests.faults.command import shared, whole
from tests.faults.golden import printable

RECORDS = "task.lost-in-the-middle.path"
CURVES = [b"{", b'{"loss": 1}']


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Options of a run on a text of half a megabyte, in small."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(
        "".join(f"line {i} of some text, {i * 7919 % 1000} words long\n" for i in range(18000))
    )
    return [
        "logger=none",
        "data/corpus=files",
        f"data.corpus.path={path}",
        "data.corpus.document_tokens=2100",
    ]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    GlobalHydra.instance().clear()


def on(base: list[str], words: str) -> list[str]:
    """Words for another text, after the words of the base."""
    mine = words.split(" | ")
    return [*(base[:1] if any(word.startswith("data/corpus=") for word in mine) else base), *mine]


@pytest.mark.sample(30)
@pytest.mark.parametrize("words", cases_whole.CASES)
def test_the_program_as_it_is_started(words, here, base, monkeypatch, check):
    option = cases_whole.CASES[words]
    check(lambda: whole(on(base, words), monkeypatch), f"extrap {words}", option)


OPTIONS = cases_options.CASES


@pytest.mark.sample(40)
@pytest.mark.parametrize("words", OPTIONS)
def test_options_of_what_is_chosen(words, here, base, check):
    check(lambda: shared(on(base, words)), words, OPTIONS[words])


def put(path: Path, content: bytes | Callable[[Path], object] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        content(path)


SINGLE = [
    *("packed: a.txt.gz", "packed: a.jsonl.gz"),
    *("weights: changed", "config: changed", "curve: changed"),
]
"""Cases that stand in no table."""
SMALL = ["task.nll.multiples=[1,2]", "task.nll.documents=4"]
CORPORA = cases_files.CORPORA


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", CORPORA)
def test_text(name, here, base, check):
    files, words, *option = CORPORA[name]
    for path, content in files.items():
        put(here / path, content)
    check(
        lambda: shared([*base, *SMALL, *words]), f"text: {name}", *(option or ["data.corpus.path"])
    )


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz"])
def test_packed_files_that_hold_far_more(name, here, base, monkeypatch, check):
    monkeypatch.setattr(untrusted, "FREE", 2**20)
    put(here / name, gzip.compress((b'{"text": "' + b" " * 80 + b'"}\n') * 40_000))
    words = [*base, *SMALL, f"data.corpus.path={name}"]
    check(lambda: shared(words), f"packed: {name}", "data.corpus.path")


@pytest.mark.parametrize("name", cases_files.RECORDS)
def test_records(name, here, base, check):
    put(here / "a.jsonl", cases_files.RECORDS[name])
    words = [*base, "task=lost-in-the-middle", f"{RECORDS}=a.jsonl"]
    check(lambda: shared(words), f"records: {name}", RECORDS)


@pytest.mark.parametrize("name", cases_files.TOKENIZERS)
def test_tokenizers(name, here, base, check):
    put(here / "a.json", cases_files.TOKENIZERS[name])
    option = "data.vocabulary.tokenizer"
    words = [*base, "data/vocabulary=tokenizer", f"{option}=a.json"]
    check(lambda: shared(words), f"tokenizer: {name}", option)


@pytest.mark.parametrize("name", cases_runs.ROWS)
def test_rows(name, here, check):
    put(here / "results/s/rows/a.csv", cases_runs.ROWS[name](cases_runs.sheet()))
    check(lambda: table.main(["s"]), f"rows: {name}", "results/s/rows/a.csv", "extrap table")


@pytest.mark.parametrize("name", cases_runs.VERSIONS)
def test_versions_of_rows(name, here, check):
    put(here / "results/s/rows/a.csv", cases_runs.sheet())
    put(here / "results/s/schema.json", cases_runs.VERSIONS[name])
    check(lambda: table.main(["s"]), f"schema: {name}", "results/s/schema.json", "extrap table")


@pytest.fixture
def run(here, base):
    """A job whose run folder says that it was trained."""
    this = job(composed(base))
    this.run.folder.mkdir(parents=True)
    checkpoint.save(this.source.model().state_dict(), this.run.weights)
    this.run.curve.write_text('{"points": []}')
    this.run.mark("trained", 8)
    this.run.claim()
    return this


@pytest.mark.parametrize("name", cases_runs.WEIGHTS)
def test_weights(name, run, check):
    """Changed, then changed together with the hash that speaks for them."""
    run.run.weights.write_bytes(cases_runs.WEIGHTS[name](run.source.model().state_dict()))
    for case in ("changed", name):
        check(framed(lambda: trained_model(run)), f"weights: {case}", str(run.run.weights))
        run.run.mark("trained", 8)


@pytest.mark.parametrize("name", cases_runs.WEIGHTS)
def test_checkpoints(name, run, check):
    run.run.checkpoint.write_bytes(cases_runs.WEIGHTS[name](run.source.model().state_dict()))
    resumed = resume.Checkpoints(run.source.model("meta"))
    load = framed(lambda: resumed.load_checkpoint(run.run.checkpoint))
    check(load, f"checkpoint: {name}", str(run.run.checkpoint))


@pytest.mark.parametrize("name", cases_runs.CONFIGS)
def test_configurations_of_runs(name, run, check):
    path = run.run.folder / "config.json"
    said = read_json(path)
    cases_runs.CONFIGS[name](said)
    write_json(path, said)
    check(framed(run.run.check), "config: changed", str(path))


@pytest.mark.parametrize("content", [b"", b"[]"])
def test_a_configuration_that_says_nothing_is_written_anew(content, run):
    path = run.run.folder / "config.json"
    whole = path.read_bytes()
    path.write_bytes(content)
    run.run.claim()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", CURVES)
def test_curves(content, run, check):
    run.run.curve.write_bytes(content)
    run.run.mark("trained", 8)
    check(framed(lambda: checkpoint.curve_rows(run.run)), "curve: changed", str(run.run.curve))


def framed(call: Callable[[], object]) -> Callable[[], None]:
    def called() -> None:
        with reported():
            call()

    return called


def test_every_message_belongs_to_a_case(messages):
    """Delete the lines of a case with the case."""
    kinds = {
        "text": CORPORA,
        "records": cases_files.RECORDS,
        "tokenizer": cases_files.TOKENIZERS,
        "rows": cases_runs.ROWS,
        "schema": cases_runs.VERSIONS,
        "weights": cases_runs.WEIGHTS,
        "checkpoint": cases_runs.WEIGHTS,
    }
    known = {*OPTIONS, *commands.COMMANDS, *in_the_way.MISTAKES, *SINGLE}
    known |= {f"extrap {words}" for words in cases_whole.CASES}
    known |= {f"{kind}: {name}" for kind, names in kinds.items() for name in names}
    assert {*messages.lines} <= {*map(printable, known)}


UNQUOTED = re.compile(r"(?:^|[\s`(])[\w.@/+~-]+=[^\s'\"]*[\[{*?]")
"""A word that zsh takes for a pattern of files."""


def test_what_a_message_tells_to_type_is_quoted(messages):
    words = [line.partition(": ")[2] for line in messages.lines.values()]
    assert [line for line in words if UNQUOTED.search(line)] == []
