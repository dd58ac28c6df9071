"""Versions of what is kept on disk. A file of an older version is read through a migration, one of
a later version refused by name.
"""

import json
from pathlib import Path
from typing import Any

from extrap.utils import files as atomic
from extrap.utils.errors import UserError

RUN = 2
"""Run folders. 1: state.json holds neither this number nor the hashes of the files that training
left.
"""

ROWS = 1
"""Rows of a study: the columns and their meaning. Studies without a schema.json are of version 1.
"""


def run_state(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """What state.json says, in the present version; {} where it is damaged. Raises UserError for a
    later version.
    """
    match found:
        case {"schema": int(version)} if version > RUN:
            raise UserError(
                path,
                problem=f"a run folder of version {version}",
                remedy=f"this program reads 1 to {RUN}: use a newer one, or move it away",
            )
        case {"schema": 2, "state": str(), "steps": int(), "files": {}}:
            return found
        case {"state": str(), "steps": int()} if "schema" not in found:
            return found | {"schema": RUN, "files": {}}
    return {}


def check_rows(study: Path) -> None:
    """Raises UserError for a study whose rows are of another version than this program writes."""
    path = study / "schema.json"
    if not path.exists():
        return
    try:
        if not path.is_file():  # a pipe or a device would be read for ever
            raise OSError("not a file")
        version = json.loads(path.read_text())["rows"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise UserError(
            path, problem="damaged", remedy=f"delete it if these rows are of version {ROWS}"
        ) from None
    if version != ROWS:
        raise UserError(
            path,
            problem=f"rows of version {version!s:.20}",
            remedy=(
                f"this program reads and writes {ROWS}: use the program that wrote them, or "
                "evaluate the runs again into another study"
            ),
        )


def claim_rows(study: Path) -> None:
    """Notes the version of the rows that are about to be written. Raises UserError for a study of
    another.
    """
    check_rows(study)
    if not (study / "schema.json").exists():
        atomic.replace(study / "schema.json", json.dumps({"rows": ROWS}).encode() + b"\n")
