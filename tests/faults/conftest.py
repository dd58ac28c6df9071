"""Commands in this process, and what they leave behind."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from extrap import __main__ as program
from tests.jobs import TINY


@dataclass
class Ended:
    code: int
    out: str
    err: str

    @property
    def told(self) -> bool:
        """Whether this is how a mistake ends: a code other than 0 and one line on stderr, nothing else."""
        lines = self.err.splitlines()
        return self.code == 2 and not self.out and len(lines) == 1 and lines[0].startswith("extrap") and "Traceback" not in self.err


def files(folder: Path) -> dict[str, str]:
    """Hash of every file below a folder, locks left out."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


@pytest.fixture
def extrap(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """`extrap <words>` in this process, small enough for a test, in the folder `elsewhere`."""

    def run(*words: str, main: Callable[[], None] = program.main, small: bool = True) -> Ended:
        program.opened.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["extrap", *(TINY if small else []), *words])
            patch.setattr(sys, "path", list(sys.path))
            patch.setenv("OMP_NUM_THREADS", "1")
            patch.setenv("HYDRA_FULL_ERROR", "1")
            capfd.readouterr()
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Ended(code, *capfd.readouterr())

    return run
