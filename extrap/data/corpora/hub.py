"""A data set of the Hugging Face hub, read once and kept as a token map."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from extrap.data.corpora.base import Source
from extrap.data.corpora.pieces import Text, check_join, joined
from extrap.data.corpora.reader import line, streamed
from extrap.utils.bounds import Count
from extrap.utils.errors import UserError

PATIENCE = 10.0  # seconds for the request before extrap reads any row


@dataclass(frozen=True, kw_only=True)
class Hub(Source):
    """Rows of `column` of a hub data set, each a document; https://huggingface.co/datasets.

    Args:
        name, config, split, revision: as `datasets.load_dataset(name, config, split=split,
            revision=revision)` takes them
        files: a pattern or a list of the files of the set that are read; null: those of `config`
        column: of the text
        join: for sets whose rows are lines of one long text, what stands between them; null where
            a row is a document
        document_tokens: longer documents are cut into pieces of so many tokens of the vocabulary
        limit: tokens of the vocabulary that are read, from the start of the split

    A set is read once: later changes on the hub are not noticed, and no network is needed, until
    `revision` or another option changes. Which text it was stands in every row as its hash.
    """

    later: ClassVar[tuple[str, ...]] = ("files",)

    name: str = "Salesforce/wikitext"
    config: str | None = "wikitext-103-raw-v1"
    files: str | tuple[str, ...] | None = None
    split: str = "train"
    column: str = "text"
    revision: str | None = None
    join: str | None = ""
    document_tokens: Count = 65536
    limit: Count = 100_000_000

    def __post_init__(self) -> None:
        check_join(self.join)

    @property
    def title(self) -> str:
        return f"{self.name}/{self.config}" if self.config else self.name

    @property
    def option(self) -> str:
        return f"data.corpus.name={self.name}"

    @property
    def longest(self) -> int:
        return self.document_tokens

    @property
    def most(self) -> int:
        return self.limit

    def documents(self) -> Iterator[tuple[str, Text]]:
        rows = self._rows()
        if self.join is not None:
            return iter([("", joined(rows, self.join))])
        return ((str(i), text) for i, text in enumerate(rows))

    def state(self) -> list | None:
        return []

    def _rows(self) -> Iterator[bytes]:
        return self._read(*self._found())

    def _read(self, found: str, commit: str | None) -> Iterator[bytes]:
        """Yields the texts of the rows of a set at a commit. Raises UserError for a failure of the
        hub or `datasets`.
        """
        given: dict[str, Any] = {"name": self.config}
        if self.files is not None:
            listed = [self.files] if isinstance(self.files, str) else list(self.files)
            given = {"data_files": {self.split: listed}}
        try:
            with streamed(found, **given, split=self.split, revision=commit) as rows:
                for row in rows:
                    if self.column not in row:
                        raise ValueError(f"no column {self.column}; there are {', '.join(row)}")
                    if not isinstance(text := row[self.column], str | None):
                        problem = f"column {self.column} holds {text!r:.40}, which is no text"
                        raise ValueError(problem)
                    if text:
                        yield text.encode()
        except (ValueError, OSError, RuntimeError, ImportError) as error:
            remedy = "correct config, split, column or revision of data.corpus"
            if isinstance(error, RuntimeError | ImportError):  # a script, a form without a reader
                remedy = "choose a set of parquet, JSON or text files"
            raise UserError(self.option, problem=line(error), remedy=remedy) from None

    def _found(self) -> tuple[str, str | None]:
        """Returns the set as the hub names it, owner/name, and the commit of `revision`, in one
        request with a time limit: `datasets` would try for 23 s without network.

        Raises UserError for a name that `datasets` would look up in the working folder first.
        """
        from huggingface_hub import HfApi

        self._check_folder(self.name)
        try:
            info = HfApi().dataset_info(self.name, revision=self.revision, timeout=PATIENCE)
        except Exception as error:  # which one depends on the HTTP library below huggingface_hub
            problem = f"the hub does not serve this data set ({line(error)})"
            remedy = (
                "without network use data/corpus=torch (embedded) or data/corpus=files "
                "data.corpus.path=..."
            )
            raise UserError(self.option, problem=problem, remedy=remedy) from None
        self._check_folder(info.id)
        if "/" not in info.id:  # `datasets` has readers of such names, of files here
            raise UserError(self.option, problem="a name without an owner", remedy="give own/set")
        return info.id, info.sha

    def _check_folder(self, name: str) -> None:
        if os.path.lexists(name):
            problem = f"{name} exists in the working folder, and would be read in place of the hub"
            remedy = (
                f"rename it or start elsewhere; data/corpus=files data.corpus.path={name} reads it"
            )
            raise UserError(self.option, problem=problem, remedy=remedy)
