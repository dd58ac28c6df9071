"""What the turning pairs of a trained model do: two scores of each head and the band it uses.

A logit at distance D is g(D) = Re sum_p c_p e^(i theta_p D) + rest, c_p = q_p conj(k_p), where q_p,
k_p are pairs of channels as complex numbers, and the rest is of channels that never turn.

metric       layer, head; protocol records, text
semantic     of a query and two keys: the probability that the key preferred at distance 0 is
             preferred at a distance drawn from 0 .. n - 1, if the difference of their logits were
             Gaussian: 1 - erfc(mu / (sigma sqrt 2)) / 2, mu and sigma of the difference over the
             distances, signed as at 0
positional   of a query and a key: the mean of |g(D + 1) - g(D)| over D = 0 .. n - 2, by |c|
band         theta_p of the pair with the greatest mean of |q_p| |k_p|, radians per token

A head that knows neither content nor place has 1/2 and 0. Frequencies are the ones of a text of n
tokens; under a map of distances (ReRoPE, STRING) distances and frequencies are the ones of near
tokens. `queries` tokens of its later half meet `keys` tokens in front of the first of them: all
pairs for positional, for semantic each query with neighbours in a random order of the keys. Values
are means over inputs with a 95 % t-interval. A layer has rows if one part turns its pairs by
frequencies of the distance: not xPos, which fades them, nor several axes. Without even coordinates
(positions that are drawn, windows side by side) there are no rows. Temperatures and biases are left
out. Source: arXiv 2609.39929; band: arXiv 2607.07678.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from extrap.data.keyvalue import Records
from extrap.data.trials.base import SEED, Trials
from extrap.model.parts import parts
from extrap.model.rotary import Layout, Rotary, Turning, pairing
from extrap.model.scheme import Scheme
from extrap.model.spectrum import frequencies_used, turns_pairs
from extrap.tasks.base import (
    AtLengths,
    Counter,
    Diagnostic,
    Inside,
    Progress,
    Result,
    Setting,
    batches,
)
from extrap.tasks.diagnosis.inputs import CONTENTS, read
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, OneOrMore, Several


@dataclass(frozen=True, kw_only=True)
class RotaryScores(AtLengths, Diagnostic):
    """The task that scores the turning pairs of each head.

    Args:
        multiples: lengths over the training length
        contents: of `records`, `text`
        inputs: sequences of each
        queries, keys: tokens of each input that are scored
        batch_tokens: tokens per forward
    """

    name: ClassVar[str] = "rotary"

    contents: OneOrMore[Literal["records", "text"]] = CONTENTS
    inputs: Several = 32
    queries: Count = 4
    keys: Several = 16
    batch_tokens: Count = 4096

    def check(self, setting: Setting) -> None:
        super().check(setting)
        ns = self.lengths(setting.length)
        shortest = ns[0]
        longest = ns[-1]
        in_half = max(self.keys, self.queries)
        if shortest < 2 * in_half:
            problem = f"half of {shortest} tokens is less than {self.keys} keys"
            remedy = f"give greater multiples, or fewer task.{self.name}.keys and queries"
            raise self.error("multiples", problem, remedy)
        setting.corpus.check("validation", longest + 1)
        if "records" in self.contents:
            for n in ns:
                Records().check(f"task.{self.name}", setting.vocabulary, n)

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        ns = self.lengths(setting.length)
        vocabulary = setting.vocabulary
        stream = setting.stream
        recorder = Recorder()
        counter = Counter(progress, len(self.contents) * sum(ns))
        for content, n in product(self.contents, ns):
            trials = Trials(vocabulary, stream, n, range(self.inputs))
            here = recorder.at(protocol=content, length=n)
            with here.within_range() as cells:
                inputs = read(content, trials)
                self._measure(cells, model, inputs.tokens)
            counter(n)
        return recorder.result()

    def _measure(self, cells: Recorder, model: Inside, tokens: Tensor) -> None:
        found: dict[int, list[dict[str, Tensor]]] = {}
        count, n = tokens.shape
        half = n // 2
        rng = np.random.default_rng((SEED, n))
        in_half = rng.permutation(n - half)[: self.queries]
        queries = np.sort(half + in_half)
        first = int(queries[0])
        keys = rng.permutation(first)[: self.keys]  # before all queries
        places = torch.from_numpy(queries), torch.from_numpy(keys)
        for here in batches(count, n, self.batch_tokens):
            of_layers = model.rotated(tokens[here], turn=False)
            for layer, (q, k) in of_layers.items():
                part = turning(model.scheme, layer)
                theta = frequencies_used(model.scheme, n, layer)
                if part is not None and theta is not None:
                    each = scores(q, k, part, theta.detach(), *places)
                    found.setdefault(layer, []).append(each)
        for layer, of_batches in found.items():
            for metric in of_batches[0]:
                values = torch.cat([one[metric] for one in of_batches])
                by_head = values.cpu().T
                for head, of_head in enumerate(by_head):
                    cells.mean(metric, of_head, layer=layer, head=head)


def turning(scheme: Scheme, layer: int) -> Turning | None:
    """Returns the part that turns pairs by its frequencies alone; None if there is no such part, or
    another turns pairs, too.
    """
    found = [part for part in parts(scheme, layer) if turns_pairs(part)]
    if len(found) != 1:
        return None
    part = found[0]
    if not isinstance(part, Rotary) or part.uses("score"):
        return None
    return part if type(part).angle is Turning.angle else None


def scores(
    q: Tensor, k: Tensor, part: Turning, theta: Tensor, queries: Tensor, keys: Tensor
) -> dict[str, Tensor]:
    """Returns {metric: (B, H)} of queries and keys (B, H, T, D) at these places of a text."""
    n = q.shape[2]
    theta = theta.to(q.device)
    of_q, rest_q = as_pairs(q, part.layout, len(theta))
    of_k, rest_k = as_pairs(k, part.layout, len(theta))
    used = band(of_q, of_k, theta)
    c = of_q[:, :, queries, None] * of_k[:, :, None, keys].conj()
    unturned = rest_q[:, :, queries, None] * rest_k[:, :, None, keys]
    rest = unturned.sum(-1)
    in_twos = len(keys) // 2 * 2
    first = slice(0, in_twos, 2)
    second = slice(1, in_twos, 2)
    of_pairs = c[..., first, :] - c[..., second, :]
    of_rest = rest[..., first] - rest[..., second]
    preferred = semantic(of_pairs, of_rest, theta, n)
    moved = positional(c, theta, n)
    return {
        "semantic": preferred.flatten(2).nanmean(-1),
        "positional": moved.flatten(2).nanmean(-1),
        "band": used,
    }


def as_pairs(x: Tensor, layout: Layout, pairs: int) -> tuple[Tensor, Tensor]:
    """Returns channels (..., D) as complex pairs (..., P) and the rest (..., D - 2 P)."""
    turned = 2 * pairs
    every = range(x.shape[-1])
    if isinstance(layout, list):
        order = torch.tensor(layout[:turned]).view(-1, 2)
        others = [channel for channel in every if channel not in layout[:turned]]
    else:
        order = pairing(layout, turned)
        others = [*every[turned:]]
    both = x[..., order.to(x.device)].double()
    rest = x[..., others].double()
    return torch.view_as_complex(both.contiguous()), rest


def logits(c: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns g (..., W), without the rest, at distances 0 .. W - 1."""
    distances = torch.arange(window, dtype=torch.float64).to(theta.device)
    angle = torch.outer(theta.double(), distances)
    real = c.real @ angle.cos()
    imaginary = c.imag @ angle.sin()
    return real - imaginary


def semantic(c: Tensor, rest: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns the semantic score (...) of differences c (..., P), rest (...) of two keys; nan where
    neither is preferred at distance 0.
    """
    g = logits(c, theta, window) + rest[..., None]
    sign = g[..., 0].sign()
    spread = g.std(-1, correction=0)
    mu = g.mean(-1) * sign
    z = mu / (spread * 2**0.5)
    kept = 1 - torch.erfc(z) / 2
    greatest = c.abs().sum(-1) + rest.abs()
    certain = spread <= 1e-12 * greatest
    same_sign = (mu > 0).double()
    score = torch.where(certain, same_sign, kept)
    return score.where(sign != 0, torch.nan)


def positional(c: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns the positional score (...) of c (..., P); nan where c is 0."""
    g = logits(c, theta, window)
    steps = g.diff(dim=-1).abs()
    energy = c.abs().square().sum(-1)
    return steps.mean(-1) / energy.sqrt()


def band(q: Tensor, k: Tensor, theta: Tensor) -> Tensor:
    """Returns the band (...) in radians per token of q, k (..., T, P)."""
    strength = q.abs().mean(-2) * k.abs().mean(-2)
    strongest = strength.argmax(-1)
    finite = strength.amax(-1).isfinite()
    found = theta.double()[strongest]
    return found.where(finite, torch.nan)
