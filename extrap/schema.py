"""Versions of what is kept on disk. A file of an older version is read through a migration, one of a later version refused by name."""

from pathlib import Path
from typing import Any

from extrap.errors import UserError

RUN = 2
"""Run folders. 1: state.json holds neither this number nor the hashes of the files that training left."""

ROWS = 1
"""Rows of a study. Studies without a schema.json are of version 1."""


def run_state(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """What state.json says, in the present version; {} where it is damaged. Raises UserError for a later version."""
    match found:
        case {"schema": int(version)} if version > RUN:
            raise UserError(f"{path}: a run folder of version {version}; this program reads 1 to {RUN}: use a newer one, or move it away")
        case {"schema": 2, "state": str(), "steps": int(), "files": {}}:
            return found
        case {"state": str(), "steps": int()} if "schema" not in found:
            return found | {"schema": RUN, "files": {}}
    return {}
