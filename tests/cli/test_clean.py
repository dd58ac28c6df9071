"""`extrap clean` removes what it names, after a yes, and nothing else."""

import errno
import io
import shutil
import sys
from pathlib import Path

import pytest

from extrap.cli import clean
from extrap.results import packing, rows
from extrap.runs.folder import Named
from extrap.runs.study import State, entries
from extrap.utils import lock
from tests.runs.test_study import asked, finished, told


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files() -> set[str]:
    return {
        str(path) for path in Path().rglob("*") if path.is_file() and lock.NAME not in path.name
    }


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "gone"), [("\n", False), ("", False), ("y\n", True)])
def test_it_asks_first(answer, gone, monkeypatch, capsys):
    finished("rope-1-s0")
    before = files()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    clean.main(["s", "--runs"])
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == "  runs/rope-1-s0  0.0 MB"
    assert said.out.rstrip("\n").endswith("remove these 1? [y/N] ")
    assert said.err == ("extrap clean: 1 removed\n" if gone else "extrap clean: nothing removed\n")
    assert files() == (
        {path for path in before if not path.startswith("runs/rope-1-s0")} if gone else before
    )
    assert not gone or not Named("rope-1-s0").folder.exists()


def test_without_a_terminal_nobody_can_say_yes(capsys):
    finished("rope-1-s0")
    before = files()
    with pytest.raises(SystemExit, match="2"):
        clean.main(["s", "--runs"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("; add --yes to remove the files")
    assert files() == before


def test_rows_go_with_their_items_and_the_request(capsys):
    entry, other = finished("rope-1-s0"), finished("rope-1-s0", study="b")
    entry.file("kv").items.parent.mkdir()
    entry.file("kv").items.touch()
    before = files()
    clean.main(["s", "--rows", "--yes"])
    assert before - files() == {
        str(path)
        for path in (
            entry.file("train").rows,
            entry.file("kv").rows,
            entry.file("kv").items,
            entry.path,
            *(entry.folder.done(entry.file(task).note) for task in ("train", "kv")),
        )
    }
    assert other.file("kv").rows.exists()


def test_what_other_jobs_of_a_run_still_use_stays(capsys):
    """A failed extension takes neither the weights nor the curve of the plain reading with it."""
    plain, failed = finished("rope-1-s0"), asked("rope-1-s0", extension="yarn")
    failed.fail("why")
    clean.main(["s", "--runs", "--rows", "--state", "failed", "--yes"])
    assert capsys.readouterr().err == (
        "extrap clean: rope-1-s0: left alone, its jobs direct are not meant\n"
        "extrap clean: 2 removed\n"
    )
    assert told(plain)[0] is State.DONE
    assert [job.extension for job in entries("s")] == ["direct"]
    clean.main(["s", "--runs", "--yes"])
    assert not plain.folder.folder.exists()


def test_the_curve_that_two_extensions_of_a_run_share_goes_once(capsys):
    plain, other = finished("rope-1-s0"), finished("rope-1-s0", extension="yarn")
    clean.main(["s", "--rows", "--yes"])
    said = capsys.readouterr()
    assert plain.file("train").rows == other.file("train").rows
    assert said.out.count(str(plain.file("train").rows)) == 1
    assert said.err == f"extrap clean: {len(said.out.splitlines())} removed\n"
    assert {path for path in files() if "rope-1-s0__" in path} == set()


def test_what_runs_and_what_another_study_uses_is_left_alone(capsys):
    running, shared = asked("rope-1-s0"), finished("t5-1-s0")
    asked("t5-1-s0", study="b")
    with lock.alone(running.folder.folder):
        clean.main(["s", "--runs", "--yes"])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("extrap clean: rope-1-s0: left alone, process ")
    assert said[1:] == [
        "extrap clean: t5-1-s0: left alone, study b uses it",
        "extrap clean: nothing to remove",
    ]
    assert shared.folder.folder.exists()


def test_a_removal_that_was_cut_short_leaves_no_trained_run_and_is_finished_by_the_next(
    monkeypatch, capsys
):
    here = Path.cwd()
    entry, other = finished("rope-1-s0"), finished("t5-1-s0")

    def disk_fails(path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(shutil, "rmtree", disk_fails)
    with pytest.raises(SystemExit, match="2"):
        clean.main(["s", "rope-1-s0", "--runs", "--yes"])
    monkeypatch.undo()
    monkeypatch.chdir(here)
    left = entry.folder.folder
    assert capsys.readouterr().err == (
        f"extrap clean: {left}: not all of it can be removed (Input/output error); the same "
        "command removes the rest\n"
    )
    assert {job.run for job in entries("s")} == {entry.run, other.run}
    assert left.is_dir() and not entry.folder.trained
    clean.main(["s", "rope-1-s0", "--runs", "--yes"])
    assert not left.exists() and other.folder.trained


def test_nfs_keeps_a_lock_until_it_is_closed(monkeypatch, capsys):
    """Under another name, so that its folder is not empty before."""
    entry, remove, rmdir = finished("rope-1-s0"), shutil.rmtree, Path.rmdir
    folder = entry.folder.folder
    kept = folder / ".nfs0001"

    def removed(path: Path) -> None:
        (path / lock.NAME).rename(kept)
        for one in path.iterdir():
            if one != kept:
                remove(one) if one.is_dir() else one.unlink()
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    def closed(path: Path) -> None:
        with open(kept) as file:
            if lock.lock_descriptor(file.fileno(), blocking=False):
                kept.unlink()
        rmdir(path)

    monkeypatch.setattr(shutil, "rmtree", removed)
    monkeypatch.setattr(Path, "rmdir", closed)
    clean.main(["s", "--runs", "--yes"])
    assert capsys.readouterr().err == "extrap clean: 1 removed\n" and not folder.exists()


def test_a_run_that_is_evaluated_is_left_alone(capsys):
    entry = finished("rope-1-s0")
    with entry.folder.alone_at("s__pi"):
        clean.main(["s", "--runs", "--yes"])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("extrap clean: rope-1-s0: left alone, process ")
    assert entry.folder.folder.exists()
    clean.main(["s", "--runs", "--yes"])
    assert not entry.folder.folder.exists()


def test_nobody_makes_the_rows_that_it_asks_about(monkeypatch, capsys):
    entry, holders = finished("rope-1-s0"), []

    def asked_in_a_terminal(question: str) -> bool:
        holders.append(entry.holder())
        return True

    monkeypatch.setattr(clean, "_agreed", asked_in_a_terminal)
    with entry.folder.alone_at(entry.work):
        clean.main(["s", "--rows"])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("extrap clean: rope-1-s0: left alone, process ") and not holders
    for words in (["--rows"], ["--rows", "--runs"]):
        finished("rope-1-s0")
        clean.main(["s", *words])
        assert holders.pop() is not None and entry.holder() is None


@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("runs/rope-1-s0", "--runs"),
        ("runs/.jobs/s", "--rows"),
        ("results/s/rows", "--rows"),
        ("results/s/items", "--rows"),
        ("results/s", "--rows"),
    ],
)
def test_a_link_is_not_followed(place, asked, tmp_path, capsys):
    finished("rope-1-s0")
    outside = tmp_path / "outside"
    Path(place).mkdir(exist_ok=True)
    Path(place).rename(outside)
    Path(place).symlink_to(outside)
    before = sorted(path for path in outside.rglob("*"))
    with pytest.raises(SystemExit, match="2"):
        clean.main(["s", asked, "--yes"])
    said = capsys.readouterr().err
    assert said.startswith(f"extrap clean: {place}: a link, and extrap does not"), said
    assert sorted(path for path in outside.rglob("*")) == before


def test_packed_rows_go_too(capsys):
    entry = finished("rope-1-s0")
    finished("alibi-1-s0")
    packing.pack(Path("results/s"))
    for path in Path("results/s/rows").iterdir():
        path.unlink()
    assert told(entry) == (State.DONE, [], "")  # the note knows the packed sheet
    clean.main(["s", "rope-1-s0", "--rows", "--yes"])
    assert "  results/s/rows.parquet: rope-1-s0__direct__kv\n" in capsys.readouterr().out
    assert {*rows.read("results/s")["run"]} == {"alibi-1-s0"}
    assert not entry.file("kv").sheet.exists()
    clean.main(["s", "--rows", "--yes"])
    assert not Path("results/s/rows.parquet").exists(), "no command reads one without rows"
