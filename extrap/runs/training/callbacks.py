"""Callbacks of a training."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from extrap.data.curriculum import Switches
from extrap.runs.cost import Cost, read
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.meter import Meter, products, share_of_peak

FORWARDS = "accumulate_grad_batches"
"""The key of a checkpoint for the forwards of a step."""


class Diverged(Exception):
    """The training loss is no longer a finite number."""


class Curve(L.Callback):
    """Means over every `every` steps of each part's loss (nats per token) and accuracy: points with
    `step` and `part/metric`.

    Points travel in the checkpoint, so that a resumed run has the curve of an uninterrupted one.
    Args:
        progress: takes (done, total, note) and numbers after every step
        gpus: that the training holds

    Loggers get with every point the tokens so far, tokens a second, memory, and the share of the
    peak of a GPU that Lightning knows. Raises Diverged.
    """

    def __init__(self, every: int, progress: Callable[..., None] | None = None, gpus: int = 0):
        self.every = every
        self.progress = progress
        self.meter = Meter(gpus)
        self.points: list[dict[str, float]] = []
        self.seen = 0  # tokens of the whole training, on all devices
        self._sums: dict[str, torch.Tensor] = {}
        self._steps = 0  # in the sums; a resumed run may be logged more or less often
        self._clock = time.perf_counter()  # of the last point
        self._tokens = 0  # of this process since then
        self._read = 0  # tokens of this process since its start
        self._products = 0.0  # of this process since its start, on a GPU
        self._counted = 0.0  # of them before the last point

    def cost(self, processes: int = 1) -> Cost:
        """Returns what went into the model, without what a killed process lost. A process that had
        nothing left to read has no rate.
        """
        rate = self._read * processes / self.meter.seconds if self._read else None
        return replace(self.meter.cost(), tokens_per_second=rate)

    @property
    def work(self) -> float:
        """The products a second of this process, on a GPU."""
        return self._products / self.meter.seconds

    def on_train_start(self, trainer: L.Trainer, lit: L.LightningModule) -> None:
        """Logs the points before the checkpoint, which the page of a killed process may lack."""
        if trainer.logger is not None:
            for point in self.points:
                trainer.logger.log_metrics(_scalars(point), int(point["step"]))

    def on_train_batch_end(
        self, trainer: L.Trainer, lit: Lit, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        tokens = batch.tokens.numel()
        self._tokens += tokens
        self._read += tokens
        self.seen += tokens * trainer.world_size
        if self.meter.gpus:
            self._products += products(lit.model, batch)
        if not batch.last:
            return
        for name, value in lit.measured.items():
            self._sums[name] = self._sums.get(name, 0) + value
        self._steps += 1
        if trainer.global_step % self.every == 0:
            self._add_point(trainer)
            self._log(trainer)
        if self.progress is not None:
            rate = self._read * trainer.world_size / self.meter.seconds
            numbers = {"rate": round(rate, 1), "memory": self.meter.memory()}
            self.progress(trainer.global_step, trainer.max_steps, self._note(), **numbers)

    def _note(self) -> str:
        """Returns the last point in words."""
        last = self.points[-1] if self.points else {}
        shown = [name for name in ("text/nll", "retrieval/accuracy") if name in last]
        return " ".join(f"{name} {last[name]:.3f}" for name in shown)

    def _add_point(self, trainer: L.Trainer) -> None:
        point: dict[str, float] = {}
        for name, total in self._sums.items():
            mean = trainer.strategy.reduce(total, reduce_op="mean")
            point[name] = float(mean) / self._steps
        if not all(map(math.isfinite, point.values())):
            raise Diverged(f"the loss is not finite at step {trainer.global_step}")
        self.points.append({"step": trainer.global_step} | point)
        self._sums = {}
        self._steps = 0

    def _log(self, trainer: L.Trainer) -> None:
        """Logs the last point, with the pace since the one before."""
        seconds = time.perf_counter() - self._clock
        rate, work = self._tokens / seconds, (self._products - self._counted) / seconds
        self._clock = time.perf_counter()
        self._tokens = 0
        self._counted = self._products
        if trainer.logger is None:
            return
        pace = {
            "tokens": self.seen,
            "tokens_per_second": rate * trainer.world_size,
            "memory_gb": self.meter.memory() / 1e9,
        }
        on = trainer.strategy.root_device
        share = share_of_peak(work, on, str(trainer.precision))
        if share is not None:
            pace["share_of_peak"] = share
        every = _scalars(self.points[-1]) | _scalars(pace)
        trainer.logger.log_metrics(every, trainer.global_step)

    def on_save_checkpoint(
        self, trainer: L.Trainer, lit: L.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Saves the sums of all processes, of which one alone writes: their mean, for each; and the
        forwards of a step, by which Lightning counts.
        """
        checkpoint[FORWARDS] = trainer.accumulate_grad_batches
        for name, total in self._sums.items():
            self._sums[name] = trainer.strategy.reduce(total, reduce_op="mean")

    def state_dict(self) -> dict[str, Any]:
        return {
            "points": self.points,
            "cost": self.meter.cost().plain(),
            "sums": self._sums,
            "steps": self._steps,
            "tokens": self.seen,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.points = state["points"]
        self.seen = state.get("tokens", 0)
        self._sums = dict(state.get("sums", {}))
        self._steps = state.get("steps", 0)
        self.meter.before = read(state.get("cost") or {"seconds": state.get("seconds")})


def _scalars(point: dict[str, float]) -> dict[str, float]:
    return {f"train/{name}": value for name, value in point.items() if name != "step"}


class BetweenUpdates(ModelCheckpoint):
    """Saves between updates alone. After a resume, Lightning would save the same step again in the
    middle of the next one's accumulation.
    """

    def on_train_batch_end(
        self, trainer: L.Trainer, lit: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if batch.last:
            super().on_train_batch_end(trainer, lit, outputs, batch, batch_idx)


class Schooling(L.Callback):
    """Moves the switches of the curriculum on after every step; their state travels in checkpoints.
    All processes of a run decide on the mean of their accuracies.
    """

    def __init__(self, switches: Switches):
        self.switches = switches

    def on_train_batch_end(
        self, trainer: L.Trainer, lit: Lit, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if not batch.last:
            return
        accuracies = {}
        for part in self.switches.waiting:
            own = lit.measured[f"{part}/accuracy"]
            accuracies[part] = float(trainer.strategy.reduce(own, reduce_op="mean"))
        self.switches.update(trainer.global_step, accuracies)

    def state_dict(self) -> dict[str, Any]:
        return self.switches.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.switches.load_state_dict(state)


class RandomState(L.Callback):
    """Continues torch's random numbers after a resume: Lightning does not save them."""

    def __init__(self) -> None:
        self._saved: list[torch.Tensor] | None = None

    def on_train_start(self, trainer: L.Trainer, lit: L.LightningModule) -> None:
        if self._saved is not None:
            torch.set_rng_state(self._saved[0])
            if len(self._saved) > 1 and torch.cuda.is_available():
                torch.cuda.set_rng_state(self._saved[1])

    def state_dict(self) -> dict[str, Any]:
        """The state of the process that writes, and of its device: every process draws alike, each
        on a device of its own.
        """
        of_device = [torch.cuda.get_rng_state()] if torch.cuda.is_available() else []
        return {"rng": [torch.get_rng_state(), *of_device]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._saved = [s.cpu() for s in state["rng"]]
