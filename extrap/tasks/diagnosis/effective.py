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
    doubled = [L * 2**i for i in range(doublings + 1)]
    recorder = Recorder()
    for protocol, original, lengths in (
        ("trained", trained, [L]),
        ("used", extended, doubled),
    ):
        scheme = deepcopy(original).cpu().eval()
        here = recorder.at(protocol=protocol)
        for measure in (_frequencies, _bias):
            with suppress(OutOfRange):
                measure(here, scheme, lengths)
    return recorder.result().rows


def _changes(lengths: list[int], layers: int, of: Callable) -> Iterator[tuple[int, list]]:
    """Yields the lengths at which of(length, layer) changes, with its numbers by layer."""
    last = None
    for n in lengths:
        each = []
        for layer in range(layers):
            numbers = of(n, layer)
            each.append([] if numbers is None else numbers.tolist())
        if each != last:
            yield n, each
        last = each


def _frequencies(recorder: Recorder, scheme: Scheme, lengths: list[int]) -> None:
    """Records one set of rows if all layers are alike, else the rows of each layer."""
    layers = scheme.shape.layers
    of_layer = partial(frequencies_used, scheme)
    for n, each in _changes(lengths, layers, of_layer):
        here = recorder.at(length=n)
        if all(theta == each[0] for theta in each):
            _pairs(here, each[0], n)
            continue
        for layer, theta in enumerate(each):
            _pairs(here.at(layer=layer), theta, n)


def _pairs(recorder: Recorder, thetas: list[float], n: int) -> None:
    """Records the frequency of every pair and its turns within n tokens."""
    for p, theta in enumerate(thetas):
        pair = recorder.at(axis="pair", at=float(p))
        turns = n * theta / (2 * pi)
        pair.value("theta", theta)
        pair.value("turns", turns)


def _bias(recorder: Recorder, scheme: Scheme, lengths: list[int]) -> None:
    longest = lengths[-1]
    doublings = [2**i for i in range(longest.bit_length())]
    d = torch.tensor([0, *doublings], dtype=torch.float64)
    distances = d.tolist()
    layers = scheme.shape.layers
    of_layer = partial(biases_used, scheme, d)
    for n, each in _changes(lengths, layers, of_layer):
        here = recorder.at(length=n, axis="distance")
        for layer, bias in enumerate(each):
            for head, values in enumerate(bias):
                of_head = here.at(layer=layer, head=head)
                for distance, value in zip(distances, values, strict=True):
                    of_head.value("bias", value, at=distance)
