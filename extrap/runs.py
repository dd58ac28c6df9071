"""Run folders: named by content, finished when they say so.

runs/<label>-<hash of the configuration>-s<seed>/
    config.json     the configuration as plain values; data, never code
    last.ckpt       where training stopped; the same command goes on from here
    weights.pt      the trained weights
    state.json      {"state": "trained" | "diverged", ...}, written last
    done/*.json     which evaluation wrote which rows file
"""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = Path("runs")


def fingerprint(value: Any) -> str:
    """First 12 hex digits of the SHA-256 of a plain value in canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def write_json(path: Path, value: Any) -> None:
    """Whole or not at all, and on disk before it is visible."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".writing-", delete=False) as out:
        json.dump(value, out, indent=1, sort_keys=True)
        out.flush()
        os.fsync(out.fileno())
    os.replace(out.name, path)


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
