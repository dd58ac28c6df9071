"""A scheme around another one. What wraps changes some hooks; the others are those of the scheme inside."""

from abc import abstractmethod

from torch import Tensor

from extrap.model.scheme import Scheme, Where


class Wrapper(Scheme):
    """Every hook is that of `inside`."""

    @property
    @abstractmethod
    def inside(self) -> Scheme: ...

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.inside.limit

    @property
    def scale(self) -> float:
        return self.inside.scale

    def uses(self, *hooks: str) -> bool:
        return self.inside.uses(*hooks)

    def positions(self, t: Tensor) -> Tensor:
        return self.inside.positions(t)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        return self.inside.embed(x, at)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        return self.inside.rotate(q, k, at)

    def sees(self, at: Where) -> Tensor | None:
        return self.inside.sees(at)

    def temperature(self, at: Where) -> Tensor | None:
        return self.inside.temperature(at)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return self.inside.score(q, k, at)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor | None:
        return self.inside.distance_bias(d, layer)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        return self.inside.bias(q, k, at)

    def sink(self, at: Where) -> Tensor | None:
        return self.inside.sink(at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        return self.inside.mix(a, v, at)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        return self.inside.attend(q, k, v, at)
