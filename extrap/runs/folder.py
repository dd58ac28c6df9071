"""Run folders: named by content, finished when they say so.

runs/<label>-<hash of the configuration>-s<seed>/
    config.json     the configuration as plain values; data, never code
    last.ckpt       where training stopped; the same command goes on from here
    weights.pt      the trained weights
    curve.json      the training curve
    state.json      {"state": "trained" | "diverged", ...}, written when all of the above is on the
                    disk
    done/*.json     which evaluation wrote which rows file
    failed.json     why the last attempt failed; gone with the next one; failed-<extension>.json
    log.txt         what jobs of sweeps printed; of other extensions than direct log-<extension>.txt

Everything in a run folder is data. Whatever is found there, by hand or from elsewhere, is never run
and never followed as a link.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from extrap.runs.layout import DIRECT, RUNS
from extrap.utils import files as atomic
from extrap.utils import lock
from extrap.utils import versions as schema
from extrap.utils.errors import UserError

PUBLISHED = "published"
"""State of a run that others trained, whose weights lie elsewhere."""


def fingerprint(value: Any) -> str:
    """First 12 hex digits of the SHA-256 of a plain value in canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def identity_hash(value: Any) -> str:
    """`fingerprint` of a configuration in which classes are named without their module, so that
    code may move.

    `{"_target_": "extrap.schemes.rope.RoPE"}` counts as `RoPE`; a class of a plug-in keeps the name
    of its package, `my_package.RoPE`. Class names of extrap are unique
    (tests/contracts/test_class_names.py).
    """
    return fingerprint(_without_modules(value))


def _without_modules(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _class_name(inner) if key == "_target_" else _without_modules(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_modules(inner) for inner in value]
    return value


def _class_name(target: Any) -> str:
    package, _, rest = str(target).partition(".")
    name = rest.rpartition(".")[2]
    return name if package == "extrap" else f"{package}.{name}"


def write_json(path: Path, value: Any, sync: bool = True) -> None:
    atomic.replace(path, json.dumps(value, indent=1, sort_keys=True).encode(), sync)


def read_json(path: Path) -> dict[str, Any]:
    """Returns the object in a file, {} if the file is missing or damaged."""
    try:
        value = (
            json.loads(path.read_text()) if path.is_file() else {}
        )  # a pipe or a device would be read for ever
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _of(name: str, extension: str) -> str:
    return name if extension == DIRECT else f"{name}-{extension}"


TRAINED = ("config.json", "last.ckpt", "weights.pt", "curve.json", "state.json")
"""Files that whoever trains a run writes."""


class Folder:
    """What lies on disk of a run."""

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

    def log(self, extension: str = DIRECT) -> Path:
        return self.folder / f"{_of('log', extension)}.txt"

    @property
    def state(self) -> dict[str, Any]:
        """How training ended; {} where it did not. Raises UserError for a folder of a later
        version.
        """
        path = self.folder / "state.json"
        return schema.run_state(read_json(path), path)

    @property
    def trained(self) -> bool:
        state = self.state.get("state")
        return state == PUBLISHED or (state in ("trained", "diverged") and self.weights.exists())

    @contextmanager
    def alone(self, wait: bool = True) -> Iterator[None]:
        """One process at a time trains a run; the lock goes with the process that holds it. Raises
        UserError for a link in the folder; wait=False: lock.Held where another process trains it.
        """
        self._make()
        with lock.alone(self.folder, wait=wait):
            for name in TRAINED:
                atomic.sweep(self.folder, f".{name}.*.tmp")
            yield

    @contextmanager
    def alone_at(self, work: str, wait: bool = True) -> Iterator[None]:
        """One process at a time does this part of what is done with a run, its rows of one study
        under one extension, and nobody trains or removes the run meanwhile. Parts go on side by
        side. Raises UserError for a link in the folder; wait=False: lock.Held where another process
        does this part, or trains the run.

        Whoever wants the whole folder takes it, then looks for parts; whoever wants a part takes
        that, then looks for who holds the folder: at least one of two sees the other.
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
        """The process that trains this run or does this work with it, in words."""
        return lock.holder(self.folder) or (lock.holder(self.folder, work) if work else None)

    def mark(self, state: str, steps: int, seconds: float = 0.0) -> None:
        """Says how training ended, after how long, and with which files; what is in them is on the
        disk before.
        """
        files = {path.name: digest(path) for path in (self.weights, self.curve)}
        content = {
            "schema": schema.RUN,
            "state": state,
            "steps": steps,
            "seconds": round(seconds, 1),
            "files": files,
        }
        write_json(self.folder / "state.json", content)

    def unmark(self) -> None:
        """Takes back what `mark` said: training begins again, because weights that it spoke for are
        gone.
        """
        (self.folder / "state.json").unlink(missing_ok=True)

    def intact(self, path: Path) -> bool:
        """Whether a file is the one that training left; a folder of version 1 cannot tell."""
        expected = self.state["files"].get(path.name)
        return expected is None or (path.is_file() and digest(path) == expected)

    def reason(self, extension: str = DIRECT) -> Path:
        """The file that says why the last attempt under an extension failed."""
        return self.folder / f"{_of('failed', extension)}.json"

    def failure(self, extension: str = DIRECT) -> str | None:
        """Why the last attempt under an extension failed, in one line. A file of its own: written
        by a sweep while another may already try again.
        """
        reason = read_json(self.reason(extension)).get("reason")
        return reason if isinstance(reason, str) else None

    def fail(self, reason: str | None, extension: str = DIRECT) -> None:
        """Notes why an attempt failed; None forgets it."""
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

    def evaluated(self, name: str, config: str, rows: Path) -> bool:
        """True if this evaluation finished under this configuration and nobody changed its rows
        since.
        """
        note = self.note(name)
        return note.get("config") == config and rows.is_file() and note.get("rows") == digest(rows)

    def mark_evaluated(self, name: str, config: str, rows: Path, seconds: float = 0.0) -> None:
        write_json(
            self.done(name),
            {"config": config, "rows": digest(rows), "seconds": round(seconds, 1)},
        )


@dataclass(frozen=True)
class Run(Folder):
    """One trained configuration. identity: everything that can change its weights except the seed;
    about: more for config.json.
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
        return f"{self.label}-{self.config[:8]}-s{self.seed}"

    def check(self) -> None:
        """Raises UserError where the folder holds another configuration: an edited one, or two of
        one name.
        """
        path = self.folder / "config.json"
        found = read_json(path).get("identity", self.identity)
        if identity_hash(found) != self.config:
            raise UserError(
                f"{path}: not the configuration that is asked for, though of its name; move "
                f"{self.folder} away"
            )

    def claim(self) -> None:
        """Writes config.json. Raises UserError where there is another."""
        self.check()
        options = {
            "schema": schema.RUN,
            "label": self.label,
            "seed": self.seed,
            "identity": self.identity,
        }
        write_json(self.folder / "config.json", self.about | options)


@dataclass(frozen=True)
class Named(Folder):
    """A run of which only the name is known."""

    name: str


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
