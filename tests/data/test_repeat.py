"""Training sequences of repeated text."""

import numpy as np

from extrap.data.mixture import IGNORED, Batches
from extrap.data.repeat import RepeatedText, RepeatedWithin
from extrap.data.vocabulary import Vocabulary
from tests.data.test_mixture import batches, corpus, mixture
from tests.support.hand import drawn_from

STREAM = np.arange(5000)


def drawn(size=500, length=32, seed=0, kind=RepeatedText, **options):
    return kind(size=size, **options).draw(drawn_from(seed, Vocabulary(), STREAM, length), 0.5)


def test_a_stretch_of_text_comes_again_and_copies_alone_are_scored():
    sequences, scored = drawn(shortest=5)
    assert sequences.shape == (500, 33) and sequences.dtype == np.int64
    assert (sequences[:, 0] == Vocabulary().bos).all()
    for text, copies in zip(sequences[:, 1:], scored, strict=True):
        u = int((~copies).sum())
        assert not copies[:u].any() and copies[u:].all()
        assert (np.diff(text[:u]) == 1).all(), "a stretch of the stream"
        assert (text == text[np.arange(32) % u]).all()


def test_periods_end_at_the_longest_whatever_the_length():
    for length in (32, 64):
        scored = drawn(length=length, kind=RepeatedWithin, shortest=2, longest=7)[1]
        assert set((~scored).sum(1)) == set(range(2, 8))


def test_it_is_a_part_of_a_mixture_and_moves_no_other():
    both = Batches(mixture(more={"repeat": RepeatedText(size=3)}), corpus(), 0, 10)[4]
    assert both.parts == {"text": slice(0, 4), "retrieval": slice(4, 10), "repeat": slice(10, 13)}
    assert both.tokens[:10].tolist() == batches()[4].tokens.tolist()
    assert (both.targets[10:] != IGNORED).sum(1).min() >= 32
