"""Versions of the files that extrap keeps on disk: it rejects another version by name."""

import json
from pathlib import Path
from typing import Any

from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json

RUN = 2
"""Run folders."""

ROWS = 1
"""Rows of a study: the columns and their meaning; version 1 where schema.json is missing."""


def run_state(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Returns a state.json, {} if damaged. Raises UserError for a later version."""
    match found:
        case {"schema": int(version)} if version > RUN:
            problem = f"a run folder of version {version}"
            remedy = f"this program reads {RUN}: use a newer one, or move it away"
            raise UserError(path, problem=problem, remedy=remedy)
        case {"schema": 2, "state": str(), "steps": int(), "files": {}}:
            return found
    return {}


def check_rows(study: Path) -> None:
    """Raises UserError if the rows of a study have another version than this program writes."""
    path = study / "schema.json"
    if not path.exists():
        return
    try:
        version = read_json(path)["rows"]
    except (OSError, KeyError, UserError):
        remedy = f"delete it if these rows are of version {ROWS}"
        raise UserError(path, problem="damaged", remedy=remedy) from None
    if version != ROWS:
        problem = f"rows of version {version!s:.20}"
        remedy = (
            f"this program reads and writes {ROWS}: use the program that wrote them, or evaluate "
            "the runs again into another study"
        )
        raise UserError(path, problem=problem, remedy=remedy)


def claim_rows(study: Path) -> None:
    """Writes the version of the rows to come. Raises UserError for a study of another version."""
    check_rows(study)
    if not (study / "schema.json").exists():
        atomic.replace(study / "schema.json", json.dumps({"rows": ROWS}).encode() + b"\n")
