"""The embedded prose: English out of the docstrings of installed packages.

The prose of a package is one text, paragraph after paragraph in the order of its files, cut into
documents. A paragraph counts as prose if it has twelve words or more, four of five of them plain
words, begins and ends like a sentence, and holds no code, table or list. A paragraph is left out if
half of its stretches of eight words stand earlier in the text.
"""

import ast
import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from extrap.data.corpora.base import Portion, Source
from extrap.data.corpora.pieces import cut
from extrap.data.corpora.reader import stamps
from extrap.utils.bounds import Count
from extrap.utils.errors import UserError
from extrap.utils.pip import install_pinned
from extrap.utils.progress import Progress

PACKAGES = ("torch", "transformers", "scipy", "sympy", "numpy", "matplotlib", "lightning")
PACKAGES += ("torchmetrics", "huggingface_hub", "wandb", "datasets", "pydantic")
HELD = ("pandas", "networkx")
"""Packages of the validation split: the training text holds nothing of theirs."""
TESTS = {"test", "tests", "testing", "_testing"}
"""Folders that are left out."""

WORDS, PLAIN, STRETCH = 12, 0.8, 8
WORD = re.compile(r"""[("']?[A-Za-z][a-z]*(?:['-][A-Za-z]+)*[)"'.,;:!?]*""")
SENTENCE = re.compile(r"""["'(]?[A-Z].*[.!?]["')]?""")
STRUCTURE = re.compile(
    r"""\s*(>>>|\.\.\.|\.\.\s|:[\w-]+|[@|$#]|[-=~^*+]{3,}|[-*+]\s|\(?\w{1,2}[.)]\s|\w+:$)"""
)
"""Lines of code, tables, fields, lists and headings, by their beginning."""


@dataclass(frozen=True, kw_only=True)
class Prose(Source):
    """Docstrings of the installed packages of PACKAGES (training) and HELD (validation).

    The versions of the packages fix the text; its hash stands in every row. Licences of the text:
    those of the packages (BSD, MIT, Apache-2.0, PSF).

    Args:
        document_tokens: documents are cut into pieces of so many tokens (of bytes, whatever the
            tokenizer)

    Raises UserError if a package is missing.
    """

    document_tokens: Count = 16384
    validation: Portion = field(default=0.1, init=False)

    @property
    def title(self) -> str:
        return "prose"

    @property
    def option(self) -> str:
        return "data/corpus=prose"

    def split_for(self, name: str) -> str:
        return "validation" if name.partition("#")[0] in HELD else "train"

    def documents(self) -> Iterator[tuple[str, bytes]]:
        seen: set[bytes] = set()
        files = {package: self._files(package) for package in (*PACKAGES, *HELD)}
        total = sum(map(len, files.values()))
        done = 0
        with Progress("docstrings", total, beats=True) as progress:
            for package, paths in files.items():
                kept = []
                for path in paths:
                    found = chain.from_iterable(map(paragraphs, docstrings(path)))
                    kept += [paragraph for paragraph in found if is_new(paragraph, seen)]
                    done += 1
                    progress(done)
                yield from cut(package, "\n\n".join(kept).encode(), self.document_tokens)

    def state(self) -> list | None:
        packages = (*PACKAGES, *HELD)
        files = [*chain.from_iterable(map(self._files, packages))]  # names a missing package
        found = stamps(files)
        return None if found is None else [[version(package) for package in packages], found]

    def _files(self, package: str) -> list[Path]:
        """Returns the Python files of a package outside its tests, in a fixed order."""
        spec = find_spec(package)  # found without importing the package
        if spec is None or not spec.submodule_search_locations:
            remedy = f"{install_pinned(package)}, or choose data/corpus=torch"
            raise UserError(self.option, problem=f"needs the package {package}", remedy=remedy)
        root = Path(spec.submodule_search_locations[0])
        inside = {path.relative_to(root): path for path in root.rglob("*.py")}
        kept = [name for name in inside if TESTS.isdisjoint(name.parts)]
        return [inside[name] for name in sorted(kept, key=Path.as_posix)]


def docstrings(path: Path) -> list[str]:
    """Returns the docstrings of a Python file in their order, none of a file without syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    return [docstring for docstring in found if docstring]


def paragraphs(docstring: str) -> Iterator[str]:
    """Yields the paragraphs of a docstring that are prose, each in one line."""
    for part in re.split(r"\n\s*\n", docstring):
        if any(STRUCTURE.match(line) for line in part.splitlines()):
            continue
        words = part.split()
        plain = sum(WORD.fullmatch(word) is not None for word in words)
        text = " ".join(words)
        if len(words) >= WORDS and plain >= PLAIN * len(words) and SENTENCE.fullmatch(text):
            yield text


def is_new(paragraph: str, seen: set[bytes]) -> bool:
    """Returns True unless half of the paragraph's stretches of words are in `seen`, to which it
    adds them all.
    """
    words = [word.strip(".,;:()\"'").lower() for word in paragraph.split()]
    starts = range(len(words) - STRETCH + 1)
    texts = [" ".join(words[start : start + STRETCH]) for start in starts]
    stretches = {hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts}
    repeated = len(stretches & seen)
    seen |= stretches
    return 2 * repeated < len(stretches)
