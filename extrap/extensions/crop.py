"""Crop: the model reads the last L tokens alone. The baseline of every method that claims to use
more.

A window holds the first token of the text, BOS, and the last L - 1 tokens. One window serves its
last `stride` predictions, so that each sees between L - stride + 1 and L tokens. Windows begin at
the end of the text: unless stride = 1, earlier predictions change as the text grows.
"""

import torch
from torch import Tensor

from extrap.extensions.base import Extension, Reader
from extrap.extensions.probe import check_reads_on
from extrap.model.gpt import GPT
from extrap.utils.bounds import Count


class Crop(Extension):
    """The baseline of a cropped text: the model reads the last L tokens alone.

    Args:
        stride: predictions of one window; null stands for L / 2; 1 is exact, at L times the cost

    Works with every scheme, because no window exceeds L. Refuses a stride above L - 1, and a scheme
    whose layers together look less than L - stride tokens back: a crop would hide nothing from it.
    """

    def __init__(self, stride: Count | None = None):
        self.stride = stride

    def __call__(self, model: GPT) -> Reader:
        L = model.scheme.shape.length
        stride = max(1, L // 2) if self.stride is None else self.stride
        if stride >= L:
            raise self.refuse(
                model.scheme, f"stride={stride}: must be below the training length {L}"
            )
        try:
            check_reads_on(model.scheme, L - stride)
        except ValueError as error:
            raise self.refuse(model.scheme, str(error)) from error

        def read(tokens: Tensor, last: int | None = None) -> Tensor:
            T = tokens.shape[1]
            last = T if last is None else last
            if T <= L:
                return model(tokens, last=last)
            first = max(L, T - last)
            ends = range(T, first, -stride)
            spans = [tokens[:, end - L + 1 : end] for end in reversed(ends)]
            bos = tokens[:, :1]
            windows = torch.stack([torch.cat([bos, span], 1) for span in spans])
            ends_read = model(windows.flatten(0, 1), last=stride)
            of_windows = ends_read.unflatten(0, windows.shape[:2])
            tail = of_windows.transpose(0, 1).flatten(1, 2)
            left = T - len(ends) * stride
            head = model(tokens[:, :left]) if T - left < last else tail[:, :0]
            return torch.cat([head, tail], 1)[:, -last:]

        return read
