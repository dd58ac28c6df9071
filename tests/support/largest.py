"""The largest tensor that any operation makes."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Largest(TorchDispatchMode):
    """Bytes and entries of the largest tensor made while it is active; views do not count."""

    def __init__(self):
        super().__init__()
        self.bytes = self.entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else (out,):
            if isinstance(t, torch.Tensor) and not func.is_view:
                self.bytes = max(self.bytes, t.numel() * t.element_size())
                self.entries = max(self.entries, t.numel())
        return out


def growth(read: Callable[[int], object], short: int, long: int) -> float:
    """Bytes of the largest tensor that read(long) makes over that of read(short)."""
    peak = []
    for n in (short, long):
        with Largest() as largest:
            read(n)
        peak.append(largest.bytes)
    return peak[1] / peak[0]
