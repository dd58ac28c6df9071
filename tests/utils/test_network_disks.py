"""Faults of network disks: a file system without fsync is served, a lost file is one line."""

import errno
import fcntl
import os
import time
from pathlib import Path

import pytest

from extrap.utils import atomic, lock
from extrap.utils.errors import disk_fault


def failing(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_disk_without_fsync(number, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", failing(number))
    atomic.replace(tmp_path / "a", b"content")
    assert (tmp_path / "a").read_bytes() == b"content"


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EXDEV, errno.EBUSY, errno.ETIMEDOUT])
def test_a_rename_that_fails(number, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"before")
    monkeypatch.setattr(os, "replace", failing(number))
    with pytest.raises(OSError) as found:
        atomic.replace(tmp_path / "a", b"after")
    line = disk_fault(found.value)
    assert line and line.startswith(f"{tmp_path / 'a'}: ") and len(line.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"


def test_two_containers_with_one_id_write_one_file(tmp_path, monkeypatch):
    """The second writes between the first one's draft and its rename."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    rename = os.replace

    def late(draft, path):
        monkeypatch.setattr(os, "replace", rename)
        atomic.replace(tmp_path / "a", b"second")
        rename(draft, path)

    monkeypatch.setattr(os, "replace", late)
    atomic.replace(tmp_path / "a", b"first")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EBUSY, errno.ETIMEDOUT, errno.ENOLCK])
@pytest.mark.parametrize("module, call", [(fcntl, "flock"), (lock, "_still_there")])
def test_a_lock_that_fails(number, module, call, tmp_path, monkeypatch):
    monkeypatch.setattr(module, call, failing(number))
    with pytest.raises(OSError) as found, lock.alone(tmp_path / "run"):
        pass
    line = disk_fault(found.value)
    assert line and line.startswith(f"{tmp_path / 'run' / lock.NAME}: ")
    assert len(line.splitlines()) == 1


def test_a_disk_whose_lock_service_is_off_on_every_node_takes_leases(tmp_path, monkeypatch):
    """Without the word of a person, the service of this node alone may be off."""
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))
    with pytest.raises(OSError) as found, lock.alone(tmp_path):
        pass
    assert f"{lock.LEASES}=1" in disk_fault(found.value)
    monkeypatch.setenv(lock.LEASES, "1")
    with lock.alone(tmp_path):
        assert lock.holder(tmp_path).startswith(f"process {os.getpid()} on ")
        assert (tmp_path / lock.LEASE_NAME).exists()
    assert lock.holder(tmp_path) is None


@pytest.mark.parametrize("number", atomic.UNWRITABLE)
def test_what_is_left_in_a_folder_of_others_stays(number, tmp_path, monkeypatch):
    """A shared cache of tokens, to be read alone."""
    left = tmp_path / ".a.7.tmp"
    left.touch()
    monkeypatch.setattr(Path, "touch", failing(number))
    atomic.sweep(tmp_path, ".*.tmp", atomic.HOUR)
    assert left.exists()


@pytest.mark.parametrize("hours", [-1, 1])
def test_clocks_that_differ_by_an_hour(hours, tmp_path, monkeypatch):
    """The age of a file that another machine writes is taken by the clock of the disk."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + hours * atomic.HOUR)
    young, old = tmp_path / ".young.7.tmp", tmp_path / ".old.7.tmp"
    young.touch()
    old.touch()
    os.utime(old, (now - 2 * atomic.HOUR,) * 2)
    atomic.sweep(tmp_path, ".*.tmp", atomic.HOUR)
    assert list(tmp_path.iterdir()) == [young]
