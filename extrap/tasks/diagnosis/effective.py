"""What an extension made of a scheme, as rows: wrong effective frequencies are a known cause of
results nobody can repeat.

metric   axis       at                    protocol
theta    pair       p, over all parts     trained | used    radians per token; of each layer
                                                            where layers differ
turns    pair       p                     trained | used    full circles within `length` tokens
bias     distance   0, 1, 2, 4, ..        trained | used    added logit, of each layer and head

`length` is the least of L, 2 L, 4 L, .. tokens from which a row holds.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from math import pi

import torch

from extrap.model.scheme import OutOfRange, Scheme
from extrap.model.spectrum import biases_used, frequencies_used
from extrap.tasks.scoring.recorder import Recorder


def frequency_rows(trained: Scheme, extended: Scheme, doublings: int = 4) -> list[dict]:
    """Returns rows of both schemes up to L * 2**doublings tokens; [] without rotated pairs and
    without a bias of the distance.
    """
    L = trained.shape.length
    recorder = Recorder()
    for protocol, original, lengths in (
        ("trained", trained, [L]),
        ("used", extended, [L * 2**i for i in range(doublings + 1)]),
    ):
        scheme = deepcopy(original).cpu().eval()
        for measure in (_frequencies, _bias):
            with suppress(OutOfRange):
                measure(recorder.at(protocol=protocol), scheme, lengths)
    return recorder.result().rows


def _changes(lengths: list[int], layers: int, of: Callable) -> Iterator[tuple[int, list]]:
    """Yields the lengths at which of(length, layer) changes, with its numbers by layer."""
    last = None
    for n in lengths:
        found = [of(n, layer) for layer in range(layers)]
        each = [[] if numbers is None else numbers.tolist() for numbers in found]
        if each != last:
            yield n, each
        last = each


def _frequencies(recorder: Recorder, scheme: Scheme, lengths: list[int]) -> None:
    """Records one set of rows if all layers are alike, else the rows of each layer."""
    for n, each in _changes(lengths, scheme.shape.layers, partial(frequencies_used, scheme)):
        if all(theta == each[0] for theta in each):
            sets = [(recorder.at(length=n), each[0])]
        else:
            sets = [(recorder.at(length=n, layer=i), theta) for i, theta in enumerate(each)]
        for here, theta in sets:
            for p, value in enumerate(theta):
                pair = here.at(axis="pair", at=float(p))
                pair.value("theta", value)
                pair.value("turns", n * value / (2 * pi))


def _bias(recorder: Recorder, scheme: Scheme, lengths: list[int]) -> None:
    doublings = [2**i for i in range(lengths[-1].bit_length())]
    d = torch.tensor([0, *doublings], dtype=torch.float64)
    for n, each in _changes(lengths, scheme.shape.layers, partial(biases_used, scheme, d)):
        at = recorder.at(length=n, axis="distance")
        for layer, bias in enumerate(each):
            for head, values in enumerate(bias):
                for distance, value in zip(d.tolist(), values, strict=True):
                    at.value("bias", value, at=distance, layer=layer, head=head)
