"""Texts that the jobs of a command open once."""

import json
from dataclasses import asdict

from extrap.data.corpora import base
from extrap.data.corpora.base import Corpus
from extrap.data.encoder import Encoder

_OPENED: dict[tuple[type, str, Encoder, str], Corpus] = {}


def opened(source: base.Source, encoder: Encoder) -> Corpus:
    """Returns the corpus of a source of text, opened once for all jobs of a command."""
    options = json.dumps(asdict(source), default=repr)  # a list has no hash
    key = type(source), options, encoder, source.place
    if key not in _OPENED:
        _OPENED[key] = source.open(encoder=encoder)
    return _OPENED[key]


def reopen() -> None:
    """Lets the next job open its text again: a process of several commands, such as a notebook,
    calls this before each.
    """
    _OPENED.clear()
