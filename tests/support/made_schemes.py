"""Schemes made by hand, whose properties are known, as subjects of the audit."""

import torch

from extrap.audit.subject import SHAPE, Subject
from extrap.model.scheme import Scheme, Shape


class Made(Subject):
    """The audit of a scheme class instead of a configuration."""

    def __init__(self, cls: type[Scheme]):
        super().__init__(cls.__name__, {})
        self.cls = cls

    def scheme(self, shape: Shape = SHAPE) -> Scheme:
        return self.cls(shape)


class Slope(Scheme):
    """b = -d / 10 in every head."""

    def distance_bias(self, d, layer):
        return -0.1 * d.expand(self.shape.heads, *d.shape)


class Steep(Scheme):
    """b = -d in every head."""

    def distance_bias(self, d, layer):
        return -1.0 * d.expand(self.shape.heads, *d.shape)


class Steps(Scheme):
    """b = -floor(d / 4): four distances share a value."""

    def distance_bias(self, d, layer):
        return -torch.floor(d / 4 + 1e-9).expand(self.shape.heads, *d.shape)


class OfKey(Scheme):
    """b = coordinate of the key / 100, and no coordinate from 200 on.

    Kind: absolute
    Past L: undefined
    Source: -
    """

    limit = 200.0

    def bias(self, q, k, at):
        return (at.k - at.k[0] * 0.5)[None, None, None].to(q.dtype) / 100


class Squares(Scheme):
    """x_i + i**2 e_0."""

    def embed(self, x, at):
        return (
            x
            if at.layer
            else x + (at.q**2)[:, None].to(x.dtype) * torch.eye(self.shape.dim, dtype=x.dtype)[0]
        )


class Geometric(Scheme):
    """x_i + 0.9**i u: M_k = 0.9**k."""

    def embed(self, x, at):
        return x if at.layer else x + (0.9**at.q)[:, None].to(x.dtype)


class Longer(Scheme):
    """Queries grow by 1 % per token."""

    def rotate(self, q, k, at):
        return q * (1 + 0.01 * at.q[:, None].to(q.dtype)), k


class Fading(Scheme):
    """Scores are halved; queries and keys keep their lengths."""

    def score(self, q, k, at):
        return 0.5 * super().score(q, k, at)


class Swapped(Scheme):
    """Channels of queries and keys change places, which turns nothing longer."""

    def rotate(self, q, k, at):
        return q.flip(-1), k.flip(-1)


class Noise(Scheme):
    def embed(self, x, at):
        return x + torch.randn(x.shape).to(x.dtype)


class TrainingNoise(Scheme):
    def embed(self, x, at):
        return x + torch.randn(x.shape).to(x.dtype) if self.training else x


class Unit(Scheme):
    """Queries times a unit matrix: D multiply-adds per channel, and nothing else."""

    def rotate(self, q, k, at):
        return q @ torch.eye(self.shape.head_dim, dtype=q.dtype), k


class SteepBesideASink(Steep):
    """Steep, with a logit of 0 that has no value."""

    def sink(self, at):
        return torch.zeros(self.shape.heads)
