"""What a person sees after a mistake, wherever it lies: one line that names the option or the file,
exit code 2, and nothing lost.

The tables are cases_whole.py (the program as it is started), cases_options.py, cases_tasks.py and
cases_data.py (options of what is chosen), cases_files.py (text, records, tokenizers) and
cases_runs.py (rows and runs).
"""

import gzip
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from extrap.cli import app as cli
from extrap.cli import table
from extrap.cli.program import job
from extrap.runs import checkpoint
from extrap.runs.evaluate import trained_model
from extrap.runs.folder import read_json, write_json
from extrap.runs.job import Job
from extrap.runs.training import checkpoint_io as resume
from extrap.utils import packed
from extrap.utils.errors import UserError
from tests.faults import (
    cases_data,
    cases_files,
    cases_options,
    cases_runs,
    cases_tasks,
    cases_whole,
)
from tests.faults.command import composed, set_in, shared, told, whole

NO_FILES = {
    "none": None,
    "folder": cases_files.folder,
    "pipe": cases_files.pipe,
    "loop": cases_files.link("a.csv"),
}
CURVES = [
    b"",
    b"{",
    b'{"points": 3}',
    b'{"points": [1]}',
    b'{"points": [{"loss": 1}]}',
    b'{"points": [{"step": "a"}]}',
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
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
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with files of somebody's, all of which are there afterwards as they
    were; beside maps of text nothing is new.
    """
    (tmp_path / "work").mkdir()
    (tmp_path / "results.csv").write_text("kept")
    monkeypatch.chdir(tmp_path / "work")
    yield tmp_path / "work"
    GlobalHydra.instance().clear()


def on(base: list[str], words: str) -> list[str]:
    """The words after those of the base, whose text gives way to another."""
    mine = words.split(" | ")
    return [*(base[:1] if any(word.startswith("data/corpus=") for word in mine) else base), *mine]


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder but maps of text."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("work/runs/.tokens") and name != "work/runs":
            small = path.is_file() and path.stat().st_size < 2**24 and os.access(path, os.R_OK)
            found[name] = path.read_bytes() if small else path.lstat().st_mode
    return found


def check(
    call: Callable[[], object],
    expected: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    program: str = "extrap",
) -> None:
    """`expected` is how the line begins, `...` standing for anything; `|` stands between two that
    are possible.
    """
    before = tree(here.parent)
    code, lines = told(call, capsys)
    assert (code, len(lines)) == (2, 1), lines
    patterns = [".*".join(map(re.escape, begin.split("..."))) for begin in expected.split("|")]
    assert any(re.match(f"{program}: {pattern}", lines[0]) for pattern in patterns), lines[0]
    assert len(lines[0]) < 2000
    assert tree(here.parent) == before


@pytest.mark.sample(30)
@pytest.mark.parametrize("words", cases_whole.CASES)
def test_the_program_as_it_is_started(
    words: str, here: Path, base: list[str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    check(lambda: whole(on(base, words), monkeypatch), cases_whole.CASES[words], here, capsys)


OPTIONS = cases_options.CASES | cases_tasks.CASES | cases_data.CASES


@pytest.mark.sample(80)
@pytest.mark.parametrize("words", OPTIONS)
def test_options_of_what_is_chosen(words: str, here: Path, base: list[str], capsys) -> None:
    check(lambda: shared(on(base, words)), OPTIONS[words], here, capsys)


@pytest.mark.parametrize(
    "words",
    ["task.kv.pairs=0", "scheme=alibi | scheme.slopes=[1,2]", "extension=yarn | scheme=nope"],
)
def test_both_ways_of_starting_say_the_same(
    words: str, here: Path, base: list[str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    both = [*base, *words.split(" | ")]
    assert told(lambda: shared(both), capsys) == told(lambda: whole(both, monkeypatch), capsys)


def put(path: Path, content: bytes | Callable[[Path], object] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        content(path)


SMALL = ["task.nll.multiples=[1,2]", "task.nll.documents=4"]
CORPORA = cases_files.CORPORA | ({} if os.geteuid() == 0 else cases_files.READ_ONLY_TO_ROOT)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", CORPORA)
def test_text(name: str, here: Path, base: list[str], capsys) -> None:
    files, words, expected = CORPORA[name]
    for path, content in files.items():
        put(here / path, content)
    check(lambda: shared([*base, *SMALL, *words]), expected, here, capsys)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "a.txt"])
def test_packed_files_that_hold_far_more(
    name: str, here: Path, base: list[str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(packed, "FREE", 2**20)
    line = b'{"text": "' + b" " * 80 + b'"}\n'
    put(here / name, gzip.compress(line * 40_000) if name.endswith("gz") else line * 40_000)
    words = [*base, *SMALL, f"data.corpus.path={name}"]
    if name.endswith("gz"):
        said = f"data.corpus.path={name}: unpacks to more than 200 times its size, as no text does"
        check(lambda: shared(words), said, here, capsys)
    else:
        with pytest.raises(AssertionError, match="work began"):
            shared(words)


def test_packed_records_that_hold_far_more(
    here: Path, base: list[str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(packed, "FREE", 2**20)
    put(here / "a.jsonl.gz", gzip.compress(b"\n" * 2**22))
    option = "task.lost-in-the-middle.path=a.jsonl.gz"
    said = f"{option}: unpacks to more than 200 times its size, as no text does"
    check(lambda: shared([*base, "task=lost-in-the-middle", option]), said, here, capsys)


@pytest.mark.parametrize("name", cases_files.RECORDS)
def test_records(name: str, here: Path, base: list[str], capsys) -> None:
    content, expected = cases_files.RECORDS[name]
    put(here / "a.jsonl", content)
    option = "task.lost-in-the-middle.path=a.jsonl"
    said = f"{option}:{expected}" if expected[0].isdigit() else f"{option}: {expected}"
    check(lambda: shared([*base, "task=lost-in-the-middle", option]), said, here, capsys)


@pytest.mark.parametrize("name", cases_files.TOKENIZERS)
def test_tokenizers(name: str, here: Path, base: list[str], capsys) -> None:
    content, expected = cases_files.TOKENIZERS[name]
    put(here / "a.json", content)
    option = "data.vocabulary.tokenizer=a.json"
    check(
        lambda: shared([*base, "data/vocabulary=tokenizer", option]),
        f"{option}: {expected}",
        here,
        capsys,
    )


@pytest.mark.parametrize("name", cases_runs.ROWS)
def test_rows(name: str, here: Path, capsys) -> None:
    change, expected = cases_runs.ROWS[name]
    put(here / "results/s/rows/a.csv", change(cases_runs.sheet()))
    check(
        lambda: table.main(["s"]), f"results/s/rows/a.csv{expected}", here, capsys, "extrap-table"
    )


@pytest.mark.parametrize("content", NO_FILES.values(), ids=NO_FILES)
def test_rows_that_are_no_file(content, here: Path, capsys) -> None:
    (here / "results/s/rows").mkdir(parents=True)
    put(here / "results/s/rows/a.csv", content)
    said = (
        "STUDY=s: no such study in results; none is there yet; train"
        if content is None
        else "results/s/rows/a.csv: not a file; delete"
    )
    check(lambda: table.main(["s"]), said, here, capsys, "extrap-table")


@pytest.mark.parametrize("name", cases_runs.VERSIONS)
def test_versions_of_rows(name: str, here: Path, capsys) -> None:
    content, expected = cases_runs.VERSIONS[name]
    put(here / "results/s/rows/a.csv", cases_runs.sheet())
    put(here / "results/s/schema.json", content)
    check(
        lambda: table.main(["s"]),
        f"results/s/schema.json: {expected}",
        here,
        capsys,
        "extrap-table",
    )


@pytest.fixture
def run(here: Path, base: list[str]) -> Job:
    """A job whose run folder says that it was trained."""
    cfg = composed(*(word for word in base if not word.startswith("data.")))
    this = job(set_in(cfg, [word for word in base if word.startswith("data.")]))
    this.run.folder.mkdir(parents=True)
    checkpoint.save(this.model().state_dict(), this.run.weights)
    this.run.curve.write_text('{"points": []}')
    this.run.mark("trained", 8)
    this.run.claim()
    return this


@pytest.mark.parametrize("believed", [False, True], ids=["changed", "believed"])
@pytest.mark.parametrize("name", cases_runs.WEIGHTS)
def test_weights(name: str, believed: bool, run: Job, here: Path, capsys) -> None:
    """Changed, or changed together with the hash that speaks for them."""
    make, expected = cases_runs.WEIGHTS[name]
    run.run.weights.write_bytes(make(run.model().state_dict()))
    if believed:
        run.run.mark("trained", 8)
    said = (
        expected
        if believed
        else (
            "changed since training ended; delete ...weights.pt, and the same command trains the "
            "run again"
        )
    )
    said = "|".join(f"{run.run.weights}: {way}" for way in said.split("|"))
    check(framed(lambda: trained_model(run)), said, here, capsys)


@pytest.mark.parametrize("name", cases_runs.WEIGHTS)
def test_checkpoints(name: str, run: Job, here: Path, capsys) -> None:
    """Training says this line, keeps the file beside and starts again:
    tests/faults/test_canaries.py.
    """
    run.run.checkpoint.write_bytes(cases_runs.WEIGHTS[name][0](run.model().state_dict()))
    model = run.model("meta")

    def load() -> None:
        try:
            resume.Checkpoints(model, 8).load_checkpoint(run.run.checkpoint)
        except checkpoint.Damaged as damaged:
            raise UserError(str(damaged)) from None

    said = "|".join(
        f"{run.run.checkpoint}: {way}"
        for way in (
            "not a checkpoint of a training",
            "not readable as tensors",
            "damaged in",
            "holds more than the bytes of its file",
            "not tensors and plain values alone",
        )
    )
    check(framed(load), said, here, capsys)


@pytest.mark.parametrize("name", cases_runs.CONFIGS)
def test_configurations_of_runs(name: str, run: Job, here: Path, capsys) -> None:
    path = run.run.folder / "config.json"
    said = read_json(path)
    cases_runs.CONFIGS[name](said)
    write_json(path, said)
    expected = (
        f"{path}: not the configuration that is asked for, though of its name; move "
        f"{run.run.folder} away"
    )
    check(framed(run.run.check), expected, here, capsys)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"[" * 99_999, b"\xff\xfe", b"null", b'{"identity": '], ids=str
)
def test_a_configuration_that_says_nothing_is_written_anew(content: bytes, run: Job) -> None:
    path = run.run.folder / "config.json"
    whole = path.read_bytes()
    path.write_bytes(content[:1000])
    run.run.claim()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", CURVES)
def test_curves(content: bytes, run: Job, here: Path, capsys) -> None:
    run.run.curve.write_bytes(content)
    run.run.mark("trained", 8)
    said = (
        f"{run.run.curve}: changed since training ended; delete {run.run.weights}, and the same "
        "command trains the run again"
    )
    check(framed(lambda: checkpoint.trained_curve(run.run)), said, here, capsys)


def framed(call: Callable[[], object]) -> Callable[[], None]:
    def called() -> None:
        with cli.reported():
            call()

    return called


def test_there_are_enough() -> None:
    tables = (
        cases_whole.CASES,
        OPTIONS,
        CORPORA,
        cases_files.RECORDS,
        cases_files.TOKENIZERS,
        cases_runs.ROWS,
        cases_runs.VERSIONS,
    )
    assert sum(map(len, tables)) + 3 * len(cases_runs.WEIGHTS) + len(cases_runs.CONFIGS) > 400
