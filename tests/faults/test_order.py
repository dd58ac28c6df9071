"""A power cut at any moment: what is called finished rests on files that are on the disk, whatever
the disk had kept to itself.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extrap import figures
from extrap.results.rows import read
from extrap.runs.evaluate import evaluate
from extrap.runs.study import Entry, write
from extrap.runs.train import train
from tests.support.jobs import job


class Disk:
    """What a disk has for certain: contents and names since the last fsync of file and folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.contents: dict[int, bytes] = {}  # by inode
        self.names: dict[str, dict[str, int]] = {}  # folder -> name -> inode
        self.steps: list[str] = []
        for call, seen in (
            ("fsync", self._fsync),
            ("replace", self._replace),
            ("unlink", self._unlink),
        ):
            monkeypatch.setattr(os, call, self._before(getattr(os, call), seen))

    def _before(self, call: Callable[..., Any], seen: Callable[..., None]) -> Callable[..., Any]:
        def called(*args: Any, **more: Any) -> Any:
            seen(*args)
            return call(*args, **more)

        return called

    def _fsync(self, handle: int) -> None:
        path, inode = Path(f"/proc/self/fd/{handle}").resolve(), os.fstat(handle).st_ino
        self.steps.append(f"fsync {path.name.split('.tmp')[0]}")
        if path.is_dir():
            self.names[str(path)] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self.contents[inode] = path.read_bytes()

    def _replace(self, source: Any, target: Any) -> None:
        """A rename may reach the disk at any time: all that the new name says must be there."""
        source, target = Path(source), Path(target)
        self.steps.append(f"replace {target.name}")
        for file in source.rglob("*") if source.is_dir() else [source]:
            assert self.contents.get(file.stat().st_ino) == file.read_bytes(), (
                f"{target}: named before its content is on the disk"
            )
        if target.name == "state.json":
            for name in json.loads(source.read_bytes())["files"]:
                assert self.has(target.parent / name), (
                    f"{name} is not on the disk when its run is called trained"
                )
        if target.parent.name == "done":
            _, extension, task = target.stem.rsplit("__", 2)
            rows = (
                Path("results/main/rows") / f"{target.parent.parent.name}__{extension}__{task}.csv"
            )
            assert self.has(rows) and self.has(target.parents[1] / "state.json"), (
                f"{rows} is not on the disk when it is called done"
            )

    def _unlink(self, path: Any, *_: Any) -> None:
        if Path(path).name == "last.ckpt":
            assert self.has(Path(path).parent / "state.json"), (
                "the checkpoint goes before its run is called trained"
            )

    def has(self, path: Path) -> bool:
        """True if the disk has a file as it is now, and the names of all folders above it."""
        path = path.absolute()
        inode = path.stat().st_ino
        if self.contents.get(inode) != path.read_bytes():
            return False
        return all(
            self.names.get(str(place.parent), {}).get(place.name) == place.stat().st_ino
            for place in (path, *path.parents)
            if place != Path.cwd() and Path.cwd() in place.parents
        )


@pytest.fixture
def disk(monkeypatch, tmp_path):
    with monkeypatch.context() as watched:
        watched.chdir(tmp_path)
        yield Disk(watched)


def test_data_is_on_the_disk_before_it_is_called_finished(disk):
    os.mkdir("runs")
    disk._fsync(folder := os.open(".", os.O_RDONLY))  # what was there before
    os.close(folder)
    this = job("scheme=rope")
    train(this)
    evaluate(this)
    folder = this.run.folder
    for path in (
        folder / "config.json",
        this.run.weights,
        folder / "state.json",
        *Path("results/main/rows").iterdir(),
        *folder.glob("done/*"),
    ):
        assert disk.has(path), path
    order = [
        disk.steps.index(f"replace {name}")
        for name in ("config.json", "last.ckpt", "curve.json", "weights.pt", "state.json")
    ]
    assert order == sorted(order)
    drawn = figures.available()["loss_length"]
    for path in figures.save(
        figures.render(drawn, read("results/main")), Path("results/main/figures/loss_length")
    ):
        assert disk.has(path), path


def test_jobs_are_on_the_disk_before_the_first_starts(disk):
    """A file at a time: os.sync would wait for whatever others write on this machine."""
    jobs = [Entry("s", f"rope-1-s{seed}", "direct", {"kv": "c"}) for seed in (0, 1)]
    write(jobs)
    assert all(disk.has(entry.path) for entry in jobs)


def test_the_watch_sees_what_is_not_synced(disk):
    Path("a").write_bytes(b"x")
    with pytest.raises(AssertionError, match="named before its content"):
        os.replace("a", "b")
    assert not disk.has(Path("a"))
