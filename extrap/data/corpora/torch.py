"""The embedded corpus: the Python source of the installed torch, whose version fixes the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from extrap.data.corpora.base import Source
from extrap.data.corpora.reader import stamps, text
from extrap.utils.bounds import Count


@dataclass(frozen=True, kw_only=True)
class Torch(Source):
    """Every `torch/**/*.py` outside folders named `testing`, each a document, by relative path.

    Args:
        smallest: bytes of the smallest file that is read

    Whole files are long documents whose far context carries information. Small ones are left out
    because they teach little and because one of them, version.py, differs between builds of the
    same version. Documents are split by name, and code repeats itself: of the stretches of 128
    bytes that `nll` scores at 64 tokens, one in ten stands in the training text as well, in eight
    of 64 documents more than one in five. Runs share that; loss on text of your own does not have
    it. Licence of the text: BSD-3-Clause.
    """

    smallest: Count = 1024

    @property
    def title(self) -> str:
        return "torch-" + version("torch").partition("+")[0]

    @property
    def option(self) -> str:
        return "data/corpus=torch"

    def documents(self) -> Iterator[tuple[str, bytes]]:
        root, paths = self._files()
        for path in paths:
            yield path.relative_to(root).as_posix(), text(path).encode()

    def state(self) -> list | None:
        return stamps(self._files()[1])

    def _files(self) -> tuple[Path, list[Path]]:
        spec = find_spec("torch")  # found without importing torch
        assert spec is not None and spec.submodule_search_locations
        root = Path(spec.submodule_search_locations[0])
        paths = [p for p in root.rglob("*.py") if "testing" not in p.relative_to(root).parts]
        paths = [p for p in paths if p.stat().st_size >= self.smallest]
        return root, sorted(paths, key=lambda p: p.relative_to(root).as_posix())
