"""Texts that the jobs of a command open once."""

from functools import cache

from extrap.data.corpora import base
from extrap.data.corpora.base import Corpus
from extrap.data.encoder import Encoder


def opened(source: base.Source, encoder: Encoder) -> Corpus:
    """Returns the corpus of a source of text, opened once for all jobs of a command."""
    return _opened(source, encoder, source.place)


def reopen() -> None:
    """Lets the next job open its text again: a process of several commands, such as a notebook,
    calls this before each.
    """
    _opened.cache_clear()


@cache
def _opened(source: base.Source, encoder: Encoder, place: str) -> Corpus:
    return source.open(encoder=encoder)
