"""The lock of a run folder: one process at a time, none left behind."""

import fcntl
import os
import shutil
import subprocess
import sys
import time
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
def hold() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)

    def start(folder: Path, before: str = "") -> "subprocess.Popen[str]":
        words = [sys.executable, "-c", before + HOLD, str(folder)]
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


@pytest.fixture
def lockless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks."""

    def flock(*_: object) -> None:
        raise OSError(lock.LACKING[0], "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(lock, "LEASE", 1.5)


WITHOUT_LOCKS = f"""
import fcntl
def flock(*_):
    raise OSError({lock.LACKING[0]}, "Function not implemented")
fcntl.flock = flock
from extrap.utils import lock
lock.LEASE = 1.5
"""


@pytest.mark.usefixtures("lockless")
def test_without_locks_a_lease_keeps_others_out(tmp_path: Path, hold, capsys) -> None:
    folder = tmp_path / "run"
    process = hold(folder, WITHOUT_LOCKS)
    assert process.stdout.readline() == "mine\n"
    assert lock.holder(folder).startswith(f"process {process.pid} on ")
    refused = pytest.raises(lock.Held, match=f"process {process.pid} on ")
    with refused, lock.alone(folder, wait=False):
        pass
    time.sleep(2 * lock.LEASE)  # longer than a lease that nobody renews
    assert lock.holder(folder).startswith(f"process {process.pid} on ")
    process.kill()
    process.communicate()
    assert lock.holder(folder) is None
    with lock.alone(folder), lock.alone(folder, "other"):
        assert lock.holder(folder).startswith(f"process {os.getpid()} on ")
        assert lock.any_part(folder).startswith(f"process {os.getpid()} on ")
        second = hold(folder, WITHOUT_LOCKS)
        assert "waiting for it" in second.stderr.readline()
    assert second.stdout.readline() == "mine\n"
    second.communicate("")
    assert lock.holder(folder) is None and lock.any_part(folder) is None
    assert not list(folder.glob(".lease*")) and not capsys.readouterr().err


@pytest.mark.usefixtures("lockless")
def test_the_lease_of_a_machine_that_died_is_free_after_its_time(tmp_path: Path, hold) -> None:
    folder = tmp_path / "run"
    process = hold(folder, WITHOUT_LOCKS)
    process.stdout.readline()
    process.kill()
    process.communicate()
    marker = folder / ".lease"
    marker.write_text(marker.read_text().replace(os.uname().nodename, "another-machine"))
    with pytest.raises(lock.Held), lock.alone(folder, wait=False):
        pass
    start = time.monotonic()
    with lock.alone(folder):
        assert time.monotonic() - start > 0.5
        assert lock.holder(folder).startswith(f"process {os.getpid()} on ")


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
