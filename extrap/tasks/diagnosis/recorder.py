"""Measured numbers as rows: a mean over inputs with its interval, at the coordinates said so far."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from torch import Tensor

from extrap.results.stats.intervals import t_interval


class Told:
    """rows: dicts in the columns of the results schema, shared by all that `at` made of one Told."""

    def __init__(self, rows: list[dict] | None = None, **where: Any):
        self.rows, self.where = [] if rows is None else rows, where

    def at(self, **more: Any) -> "Told":
        return Told(self.rows, **self.where | more)

    def value(self, metric: str, value: float, **more: Any) -> None:
        """A number that is exact."""
        self.rows.append(self.where | more | {"metric": metric, "value": float(value)})

    def mean(self, metric: str, values: Tensor, **more: Any) -> None:
        """values (N,) of N >= 2 independent inputs: their mean with a 95 % t-interval."""
        found = np.asarray(values, float)
        low, high = t_interval(found)
        self.rows.append(self.where | more | {"metric": metric, "value": float(found.mean()), "low": low, "high": high, "n": len(found)})

    def along(self, metric: str, values: Tensor, axis: str, at: Iterable[float], **more: Any) -> None:
        """values (N, K): a row for each of K places on an axis."""
        for place, column in zip(at, values.T, strict=True):
            self.mean(metric, column, axis=axis, at=float(place), **more)
