"""Errors, interrupts and paths."""

import pickle
import signal
import threading
from pathlib import Path

import pytest

from extrap.cli import program
from extrap.cli.composed import Composed
from extrap.utils import paths
from extrap.utils.errors import NotApplicable, UserError, choose
from extrap.utils.interrupts import held_back
from tests.support.program import heeding


def test_the_line() -> None:
    error = UserError("seed", None, "expected 0 or more", "give seed=0")
    assert str(error) == "seed=null: expected 0 or more; give seed=0"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("seed=-1: too small; give seed=0", ("seed", "-1", "too small", "give seed=0")),
        ("a.csv:3: cut off; delete it", ("a.csv:3", ..., "cut off", "delete it")),
        ("nothing here; add --runs: all", ("", ..., "nothing here", "add --runs: all")),
        ("a whole line", ("", ..., "a whole line", "")),
    ],
)
def test_a_whole_line_is_taken_apart(line: str, fields: tuple) -> None:
    error = UserError(line)
    assert (error.option, error.value, error.problem, error.remedy) == fields
    assert str(error) == line


def test_an_option_may_come_with_its_value() -> None:
    error = UserError("task.kv.path=a.jsonl", problem="empty")
    assert (error.option, error.value) == ("task.kv.path", "a.jsonl")
    assert str(error) == "task.kv.path=a.jsonl: empty"


def test_lists_that_a_reader_types_are_quoted_for_the_shell() -> None:
    remedy = "give task=[nll,kv], 'task=[kv]', or `extrap task=[kv] model.dim=8`; plugins=[\"a\"]"
    quoted = (
        "give 'task=[nll,kv]', 'task=[kv]', or `extrap 'task=[kv]' model.dim=8`; plugins=[\"a\"]"
    )
    assert str(UserError("task", [1, 2], "as in a=[1]", remedy)) == (
        f"task=[1, 2]: as in 'a=[1]'; {quoted}"
    )


def test_a_remedy_is_worked_out_for_the_whole_line_alone() -> None:
    asked = []
    error = NotApplicable("extension", "pi", "needs RoPE", lambda: asked.append(1) or "give alibi")
    assert error.why == "extension=pi: needs RoPE" and not asked
    assert str(error) == "extension=pi: needs RoPE; give alibi"


def test_letters_in_another_order_are_the_closest_name() -> None:
    assert choose("rpoe", ["alibi", "rope", "urpe"]).startswith("did you mean rope? ")
    assert choose("alib", ["alibi", "rope", "urpe"]).startswith("did you mean alibi? ")


def test_other_handlers_and_threads_are_held_back_too() -> None:
    asked: list[str] = []

    def held() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            asked.append("held")

    with heeding(signal.SIGINT):
        signal.signal(signal.SIGINT, lambda *_: asked.append("theirs"))
        held()
        (thread := threading.Thread(target=held)).start()
        thread.join()
    assert asked == ["held", "theirs"] * 2


def test_a_job_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    read, one = [], Composed({}, {}, [], sweep=False)

    def job(cfg: object) -> None:
        signal.raise_signal(signal.SIGINT)
        read.append(cfg)

    monkeypatch.setattr(program, "job", job)
    with heeding(signal.SIGINT), pytest.raises(KeyboardInterrupt):
        program.prepare(one)
    assert read == [one]


def test_the_installed_copy_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "extrap" / "utils" / "paths.py"))
    conf_dir = paths.conf_dir.__wrapped__  # which remembers nothing
    with pytest.raises(FileNotFoundError, match="no configuration files in"):
        conf_dir()
    (tmp_path / "conf" / "hydra").mkdir(parents=True)
    assert conf_dir() == str(tmp_path / "conf")
    (tmp_path / "extrap" / "conf" / "hydra").mkdir(parents=True)
    assert conf_dir() == str(tmp_path / "extrap" / "conf")
