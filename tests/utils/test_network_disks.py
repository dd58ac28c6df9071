"""Faults of network disks: a file system without fsync is served, a lost file is one line."""

import errno
import os

import pytest

from extrap.utils import files
from extrap.utils.errors import disk_fault


def failing(number: int):
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_disk_without_fsync(number, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", failing(number))
    files.replace(tmp_path / "a", b"content")
    assert (tmp_path / "a").read_bytes() == b"content"


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EXDEV, errno.EBUSY, errno.ETIMEDOUT])
def test_a_rename_that_fails(number, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"before")
    monkeypatch.setattr(os, "replace", failing(number))
    with pytest.raises(OSError) as found:
        files.replace(tmp_path / "a", b"after")
    line = disk_fault(found.value)
    assert line and line.startswith(f"{tmp_path / 'a'}: ") and len(line.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"
