"""As many texts at once as the memory of the device holds."""

import warnings
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from extrap.utils.errors import UserError

A = TypeVar("A")
SHARE = 0.8
"""Of the free memory of a machine, what a forward may take."""
WIDEST, WIDTH = 4, 4
"""Numbers of a token that a layer holds at once, of the widest matrix and of the stream: 34 kB in
SmolLM2-135M, where `python -m benchmarks.prefill` finds 17 to 29.
"""
SMALL = 2**28
"""Bytes below which nobody counts."""
LESS = "give smaller multiples, model.dtype=bf16 or model.device_map=auto"
FILES = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def full(error: BaseException) -> bool:
    """True if an error says that the memory of a device is full."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def free(meminfo: Path = FILES[0], group: Path = FILES[1]) -> float:
    """Returns the bytes that this machine, or the control group of this process, has left; inf
    where neither says so.
    """
    found = [inf]
    try:
        lines = meminfo.read_text().splitlines()
        of_machine = dict(line.split(":", 1) for line in lines)
        kilobytes, *_ = of_machine["MemAvailable"].split()
        found.append(1024.0 * int(kilobytes))
        most = (group / "memory.max").read_text()
        used = (group / "memory.current").read_text()
        lines = (group / "memory.stat").read_text().splitlines()
        of_group = dict(line.split() for line in lines)
        if most.strip() != "max":
            unused = float(most) - float(used)
            found.append(unused + float(of_group["inactive_file"]))
    except (OSError, KeyError, ValueError):
        pass
    return min(found)


def free_on(device: torch.device) -> float:
    """Returns the bytes that a device has left, with what torch holds of a GPU and does not use; of
    a GPU that shares the memory of the machine, what that has left.
    """
    if device.type != "cuda":
        return free()
    unused, _ = torch.cuda.mem_get_info(device)
    idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return float(unused + idle)


class Need:
    """About how many bytes a forward of a text needs in addition to the weights, without gradients:
    the widest layer, and the logits of the last positions with a copy in float32. 0 for a model
    whose matrices nobody sees.
    """

    def __init__(self, model: Any):
        modules = [*model.modules()] if isinstance(model, nn.Module) else []
        tables = [m for m in modules if isinstance(m, nn.Embedding)]
        words = max(tables, key=lambda m: m.num_embeddings, default=None)
        self.rows = 1
        self.of_token = 0
        self.bytes = 4
        if words is None:
            return
        self.rows = words.num_embeddings
        self.bytes = words.weight.element_size()
        sizes = [max(m.in_features, m.out_features) for m in modules if isinstance(m, nn.Linear)]
        inner = max((size for size in sizes if size != self.rows), default=0)
        self.of_token = WIDEST * inner + WIDTH * words.embedding_dim

    def __call__(self, tokens: int, last: int) -> float:
        logits = last * self.rows if self.of_token else 0
        numbers = tokens * self.of_token + logits
        return float(self.bytes * numbers + 4 * logits)


class Fitting:
    """Reads several texts at once, and fewer from the first time on that memory was full.

    Args:
        device: of the model
        less: what to do where a single text does not fit

    most    tokens of all texts of a forward, as far as known
    """

    def __init__(self, device: torch.device, less: str = LESS):
        self.device, self.less = device, less
        self.most = inf
        self._said = set[str]()

    def __call__(
        self, read: Callable[[slice], A], texts: int, tokens: int, need: float = 0
    ) -> list[A]:
        """Returns read(slice of the texts), in the order of the texts.

        Args:
            tokens: of a text
            need: bytes of a text; a CPU reads no more at once than the free memory holds, because
                the system ends a process that takes more

        Raises UserError for a text that does not fit by itself.
        """
        found = list[A]()
        start = 0
        most = texts
        if self.device.type == "cpu" and need * texts > SMALL:
            most = self._foreseen(texts, tokens, need)
        while start < texts:
            stop = min(texts, start + most, start + self.at_once(tokens))
            rows = slice(start, stop)
            try:
                found.append(read(rows))
                start = rows.stop
            except Exception as error:
                if not full(error):
                    raise
                self.halve(rows.stop - start, tokens, error)
        return found

    def at_once(self, tokens: int) -> int:
        """Returns how many texts of so many tokens a forward reads at most."""
        return max(1, int(min(self.most, 2**62)) // tokens)

    def halve(self, texts: int, tokens: int, error: BaseException) -> None:
        """Takes half as many texts at once from here on. Raises UserError for a single text."""
        if texts == 1:
            problem = f"do not fit into the memory of {self.device}"
            raise UserError(f"{tokens} tokens", problem=problem, remedy=self.less) from error
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        self.most = texts * tokens // 2
        which = f"{texts} texts of {tokens} tokens fill the memory of {self.device}"
        self._say("full", f"{which}; from here on batch_tokens={self.most}")

    def _foreseen(self, texts: int, tokens: int, need: float) -> int:
        """Returns how many texts fit into the free memory, at least 1."""
        room = SHARE * free()
        fit = min(texts, int(room / need))
        words = f"{tokens} tokens need about {need / 2**30:.1f} GiB of memory"
        if fit == 0:
            line = f"{words} and {room / 2**30:.1f} are free: the system may end this process"
            self._say("alone", f"{line}; {self.less}")
        elif fit < texts:
            self._say("foreseen", f"a text of {words}; reads {fit} at once in place of {texts}")
        return max(1, fit)

    def _say(self, kind: str, line: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            warnings.warn(line, UserWarning, stacklevel=2)
