"""Run folders: named by their content.

runs/<label>-<hash of the configuration>-s<seed>/
    config.json     the configuration as plain values
    last.ckpt       the checkpoint that an interrupted training continues from
    weights.pt      the trained weights
    curve.json      the training curve
    state.json      {"state": "trained" | "diverged", ...}, written last
    done/*.json     which evaluation wrote which rows file
    failed.json     why the last attempt failed, until the next; failed-<extension>.json
    log.txt         output of jobs of sweeps; log-<extension>.txt

Everything in a run folder is data: extrap never runs it and follows no link in it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from extrap.results.sheets import DIGITS, Sheet
from extrap.runs.identity import identity_hash
from extrap.runs.layout import DIRECT, RUNS
from extrap.utils import atomic, lock, untrusted, versions
from extrap.utils.errors import UserError

LARGEST = 2**28
"""Bytes of a JSON file of a run."""

MOST = 5
"""Runs that a message names."""

PUBLISHED = "published"
"""State of a run that others trained, with its weights elsewhere."""


def write_json(path: Path, value: Any, sync: bool = True) -> None:
    atomic.replace(path, as_json(value), sync)


def as_json(value: Any) -> bytes:
    """Returns the bytes of a JSON file of a run."""
    return json.dumps(value, indent=1, sort_keys=True).encode()


def read_json(path: Path) -> dict[str, Any]:
    """Returns the object in a file, {} if the file is missing or damaged."""
    try:
        return untrusted.read_json(path, LARGEST)
    except (OSError, UserError):
        return {}


def _of(name: str, extension: str) -> str:
    return name if extension == DIRECT else f"{name}-{extension}"


FREE: Mapping[str, float | None] = {}
"""The cost of work that nobody measured."""

TRAINED = ("config.json", "last.ckpt", "weights.pt", "curve.json", "state.json")
"""Files that training writes."""


class Folder:
    """The files of a run."""

    name: str

    @property
    def folder(self) -> Path:
        return RUNS / self.name

    @property
    def checkpoint(self) -> Path:
        return self.folder / "last.ckpt"

    @property
    def weights(self) -> Path:
        return self.folder / "weights.pt"

    @property
    def curve(self) -> Path:
        return self.folder / "curve.json"

    @property
    def ended(self) -> Path:
        """The file that says how training ended."""
        return self.folder / "state.json"

    def log(self, extension: str = DIRECT) -> Path:
        return self.folder / f"{_of('log', extension)}.txt"

    @property
    def state(self) -> dict[str, Any]:
        """How training ended, {} before its end. Raises UserError for a later version."""
        return versions.run_state(read_json(self.ended), self.ended)

    @property
    def trained(self) -> bool:
        state = self.state.get("state")
        return state == PUBLISHED or (state in ("trained", "diverged") and self.weights.exists())

    @contextmanager
    def alone(self, wait: bool = True) -> Iterator[None]:
        """Locks the run for training; the lock ends with its process. Raises UserError for a link
        in the folder; wait=False: raises lock.Held while another process trains the run.
        """
        self._make()
        with lock.alone(self.folder, wait=wait):
            for name in TRAINED:
                atomic.sweep(self.folder, f".{name}.*.tmp")
            yield

    @contextmanager
    def alone_at(self, work: str, wait: bool = True) -> Iterator[None]:
        """Locks a part of a run: the rows of a study under an extension. Nobody trains or removes
        the run meanwhile. Errors as in `alone`.

        Lock order: a trainer locks the folder, then checks for locked parts; an evaluator locks its
        part, then checks for a locked folder. At least one of two racing processes notices.
        """
        self._make()
        while True:
            with lock.alone(self.folder, work, wait):
                if lock.holder(self.folder) is None:
                    yield
                    return
            with lock.alone(self.folder, wait=wait):
                pass

    def _make(self) -> None:
        atomic.check_links(self.folder)
        atomic.make_folder(self.folder)

    def holder(self, work: str = "") -> str | None:
        """Returns the process that trains this run or does this work with it, in words."""
        return lock.holder(self.folder) or (lock.holder(self.folder, work) if work else None)

    def mark(self, state: str, steps: int, cost: Mapping[str, float | None] = FREE) -> None:
        """Writes how training ended, with the hashes of its files, which are on the disk before.
        cost: as extrap.runs.cost names it.
        """
        files = {path.name: digest(path) for path in (self.weights, self.curve)}
        content = {"schema": versions.RUN, "state": state, "steps": steps, "files": files}
        write_json(self.ended, content | _spent(cost))

    def unmark(self) -> None:
        """Removes the mark of a run whose weights are gone: training begins again."""
        self.ended.unlink(missing_ok=True)

    def intact(self, path: Path) -> bool:
        """True if a file is as training left it."""
        return path.is_file() and digest(path) == self.state["files"].get(path.name)

    def reason(self, extension: str = DIRECT) -> Path:
        """The file with the reason why the last attempt under an extension failed."""
        return self.folder / f"{_of('failed', extension)}.json"

    def failure(self, extension: str = DIRECT) -> str | None:
        """Returns why the last attempt under an extension failed, in one line, or None."""
        reason = read_json(self.reason(extension)).get("reason")
        return reason if isinstance(reason, str) else None

    def fail(self, reason: str | None, extension: str = DIRECT) -> None:
        """Writes why an attempt failed; None removes the reason."""
        path = self.reason(extension)
        if reason is None:
            path.unlink(missing_ok=True)
        else:
            write_json(path, {"reason": (reason.strip() or "no reason given").splitlines()[0]})

    def done(self, name: str) -> Path:
        return self.folder / "done" / f"{name}.json"

    def note(self, name: str) -> dict[str, Any]:
        """Returns the note of a finished evaluation."""
        return read_json(self.done(name))

    def evaluated(self, name: str, config: str, rows: Sheet) -> bool:
        """True if this evaluation finished under this configuration and its rows are unchanged."""
        note = self.note(name)
        if note.get("config") != config or not isinstance(note.get("rows"), str):
            return False
        return note["rows"][:DIGITS] == rows.digest

    def mark_evaluated(
        self, name: str, config: str, rows: Path, cost: Mapping[str, float | None] = FREE
    ) -> None:
        write_json(self.done(name), {"config": config, "rows": digest(rows)} | _spent(cost))


def _spent(cost: Mapping[str, float | None]) -> dict[str, Any]:
    return {"cost": dict(cost), "seconds": round(cost.get("seconds") or 0.0, 1)}


@dataclass(frozen=True)
class Run(Folder):
    """One trained configuration.

    Args:
        identity: all options that can change its weights but the seed
        about: more values for config.json
    """

    label: str
    identity: dict[str, Any]
    seed: int
    about: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def config(self) -> str:
        return identity_hash(self.identity)

    @cached_property
    def name(self) -> str:
        return self.named(self.seed)

    def named(self, seed: int) -> str:
        """Returns the name of the run of this configuration under a seed."""
        return f"{self.label}-{self.config[:8]}-s{seed}"

    def check(self) -> None:
        """Raises UserError if the folder holds another configuration, such as an edited one."""
        path = self.folder / "config.json"
        if identity_hash(read_json(path).get("identity", self.identity)) != self.config:
            problem = "not the configuration that is asked for, though of its name"
            raise UserError(path, problem=problem, remedy=f"move {self.folder} away")

    def claim(self) -> None:
        """Writes config.json. Raises UserError as `check`."""
        self.check()
        own = {"label": self.label, "seed": self.seed, "identity": self.identity}
        write_json(self.folder / "config.json", self.about | own | {"schema": versions.RUN})


def not_trained_yet(
    run: Run, option: str, value: object, remedy: str, done: str = "trained"
) -> UserError:
    """Returns the error about a run that is not trained yet; it names trained runs of its label."""
    found = sorted(path.parent.name for path in RUNS.glob(f"{run.label}-????????-s*/weights.pt"))
    others = f"; trained with other options: {', '.join(found[:MOST])}" if found else ""
    return UserError(option, value, f"{run.name} is not {done} yet{others}", remedy)


@dataclass(frozen=True)
class Named(Folder):
    """A run by its name alone."""

    name: str

    @property
    def identity(self) -> dict[str, Any]:
        """The options that name the run, {} without its folder here."""
        found = read_json(self.folder / "config.json").get("identity")
        return found if isinstance(found, dict) else {}


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file; "" for one that no memory holds, which extrap never wrote."""
    if not untrusted.fits_memory(path):
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
