"""Numbers of a scheme without any input: turns of its pairs, phases that training covered, biases
of the distance.

turns     r_p = n theta_p / (2 pi): full circles of pair p within n tokens
coverage  min(1, r_p(L) as trained) / min(1, r_p(n)): share of the phases met in n tokens that
          training met; below 1 some are new
bias      added logit at a distance in a forward of the longest length, per layer and head; all
          layers alike where the scheme shares it
"""

from contextlib import suppress
from copy import deepcopy
from math import ceil, log2

import torch

from extrap.model.scheme import OutOfRange, Scheme
from extrap.model.spectrum import biases_used, turns
from extrap.tasks.scoring.recorder import Recorder


def measure_scheme(recorder: Recorder, scheme: Scheme, plain: Scheme, lengths: list[int]) -> None:
    """Records rows of a scheme at these lengths; plain: the scheme as trained, without an
    extension. Records none if the scheme neither rotates nor adds a bias.
    """
    scheme = deepcopy(scheme).cpu().eval()
    plain = deepcopy(plain).cpu().eval()
    L = plain.shape.length
    longest = lengths[-1]
    with suppress(OutOfRange):
        trained = turns(plain, L)
        for n in lengths:
            now = turns(scheme, n)
            here = recorder.at(length=n, axis="pair")
            if trained is None or now is None or len(trained) != len(now):
                continue
            both = zip(now.tolist(), trained.tolist(), strict=True)
            for p, (r, before) in enumerate(both):
                pair = here.at(at=float(p))
                pair.value("turns", r)
                if r:
                    met = min(1.0, r)
                    known = min(1.0, before)
                    coverage = min(1.0, known / met)
                    pair.value("coverage", coverage)
    with suppress(OutOfRange), torch.no_grad():
        here = recorder.at(length=longest, axis="distance")
        _bias(here, scheme, longest)


def _bias(recorder: Recorder, scheme: Scheme, n: int) -> None:
    """Records the bias at every distance up to 8, then at four places per doubling, which
    distinguishes logarithmic buckets.
    """
    doublings = max(0, ceil(log2(n / 8)))
    quarters = range(4 * doublings + 1)
    far = [round(8 * 2 ** (i / 4)) for i in quarters]
    places = {*range(8), *far, n - 1}
    distances = sorted(place for place in places if place < n)
    d = torch.tensor(distances, dtype=torch.float64)
    for layer in range(scheme.shape.layers):
        bias = biases_used(scheme, d, n, layer)
        if bias is None:
            continue
        of_heads = bias.double().tolist()
        for head, values in enumerate(of_heads):
            of_head = recorder.at(layer=layer, head=head)
            for distance, value in zip(distances, values, strict=True):
                of_head.value("bias", value, at=float(distance))
