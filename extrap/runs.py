"""Run folders: named by content, finished when they say so.

runs/<label>-<hash of the configuration>-s<seed>/
    config.json     the configuration as plain values; data, never code
    last.ckpt       where training stopped; the same command goes on from here
    weights.pt      the trained weights
    state.json      {"state": "trained" | "diverged", ...}, written last
    done/*.json     which evaluation wrote which rows file
"""

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extrap import atomic

RUNS = Path("runs")


def fingerprint(value: Any) -> str:
    """First 12 hex digits of the SHA-256 of a plain value in canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def write_json(path: Path, value: Any) -> None:
    atomic.replace(path, json.dumps(value, indent=1, sort_keys=True).encode())


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; {} where there is none or it is damaged."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Run:
    """One trained configuration on disk. identity: everything that can change its weights except the seed."""

    label: str
    identity: dict[str, Any]
    seed: int

    @property
    def config(self) -> str:
        return fingerprint(self.identity)

    @property
    def name(self) -> str:
        return f"{self.label}-{self.config[:8]}-s{self.seed}"

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
    def state(self) -> dict[str, Any]:
        return read_json(self.folder / "state.json")

    @property
    def trained(self) -> bool:
        return self.state.get("state") in ("trained", "diverged") and self.weights.exists()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One process at a time works on a run; the lock goes with the process that holds it, however that ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / ".lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"extrap: another process works on {self.name}; waiting for it", file=sys.stderr)
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def mark(self, state: str, **more: Any) -> None:
        write_json(self.folder / "state.json", {"state": state, **more})

    def evaluated(self, name: str, config: str, rows: Path) -> bool:
        """Whether this evaluation was finished under this configuration and its rows are still what it wrote."""
        note = read_json(self.folder / "done" / f"{name}.json")
        return note.get("config") == config and rows.exists() and note.get("rows") == digest(rows)

    def mark_evaluated(self, name: str, config: str, rows: Path) -> None:
        write_json(self.folder / "done" / f"{name}.json", {"config": config, "rows": digest(rows)})


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
