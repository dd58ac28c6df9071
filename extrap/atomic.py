"""Files that are there as a whole or not at all, also after a power cut."""

import os
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Puts a file in place at once: a reader sees the old content or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
