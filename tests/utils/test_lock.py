"""The lock of a run folder: one process at a time, none left behind."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from extrap.utils import lock

HOLD = """
import sys
from pathlib import Path
from extrap.utils import lock
with lock.alone(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def hold() -> Iterator[Callable[[Path], "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)

    def start(folder: Path) -> "subprocess.Popen[str]":
        words = [sys.executable, "-c", HOLD, str(folder)]
        started.append(subprocess.Popen(words, text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_held_by_name_and_free_when_the_holder_is_killed(tmp_path: Path, hold) -> None:
    folder = tmp_path / "run"
    assert lock.holder(folder) is None
    process = hold(folder)
    assert process.stdout.readline() == "mine\n"
    assert lock.holder(folder).startswith(f"process {process.pid} on ")
    process.kill()
    process.communicate()
    assert lock.holder(folder) is None
    with lock.alone(folder):
        assert lock.holder(folder).startswith(f"process {os.getpid()} on ")


def test_who_waited_for_a_folder_that_was_removed_makes_it_anew(tmp_path: Path, hold) -> None:
    folder = tmp_path / "run"
    with lock.alone(folder):
        process = hold(folder)
        line = process.stderr.readline()
        folder.rename(tmp_path / "gone")
        shutil.rmtree(tmp_path / "gone")
    assert process.stdout.readline() == "mine\n"
    assert lock.holder(folder).startswith(f"process {process.pid} on ")
    assert process.communicate("")[1] == "", "said once"
    assert line == (
        f"extrap: process {os.getpid()} on {os.uname().nodename} works on run; waiting for it\n"
    )


def test_who_may_only_read_can_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hold) -> None:
    def opened(path: Path, mode: str = "r", **more: object) -> object:
        if mode != "r":
            raise PermissionError(13, "Permission denied", str(path))
        return open(path, mode, **more)  # type: ignore[call-overload]

    folder = tmp_path / "run"
    process = hold(folder)
    process.stdout.readline()
    monkeypatch.setattr(lock, "open", opened, raising=False)
    assert lock.holder(folder).startswith(f"process {process.pid} on ")
    process.communicate("")
    assert lock.holder(folder) is None


def test_a_file_system_without_locks_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def flock(*_: object) -> None:
        raise OSError(lock.LACKING[0], "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    with lock.alone(tmp_path / "run"):
        pass
    assert (
        capsys.readouterr().err
        == f"extrap: {tmp_path / 'run'}: no locks on this file system; start one sweep at a time\n"
    )
    assert lock.holder(tmp_path / "run") is None


def test_who_holds_it_is_asked_through_a_file_open_for_writing(tmp_path: Path, monkeypatch) -> None:
    """As NFS wants it: flock of a file that is open for reading alone is refused there."""
    asked = []
    monkeypatch.setattr(
        lock, "lock_descriptor", lambda file, **_: asked.append(fcntl.fcntl(file, fcntl.F_GETFL))
    )
    (tmp_path / lock.NAME).write_text("process 1 on elsewhere")
    assert lock.holder(tmp_path) == "process 1 on elsewhere"
    assert asked[0] & os.O_ACCMODE == os.O_RDWR


def test_nobody_waits_for_a_pipe_in_place_of_a_lock(tmp_path: Path, monkeypatch) -> None:
    def may_only_read(path: Path, mode: str = "r", **more: object) -> object:
        if mode != "r":
            raise PermissionError(13, "Permission denied", str(path))
        return open(path, mode, **more)  # type: ignore[call-overload]

    os.mkfifo(tmp_path / lock.NAME)
    with pytest.raises(OSError, match="No such device") as refused, lock.alone(tmp_path):
        pass
    assert refused.value.filename == str(tmp_path / lock.NAME)
    assert lock.holder(tmp_path) is None
    monkeypatch.setattr(lock, "open", may_only_read, raising=False)
    assert lock.holder(tmp_path) is None
