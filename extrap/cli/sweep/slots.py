"""Places for jobs on the GPUs of this machine. The sweeps of one working folder share them.

runs/.slots/<host>/<device>/.lock-<n>            locked while a job has place n of a device
runs/.slots/<host>/sweeps/.lock-<per>-<process>  locked by a sweep that packs <per> jobs on a device

Lock order: a sweep locks its own file, then looks for sweeps that pack otherwise. At least one of
two that start at once notices.
"""

import os
import re
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from extrap.cli.sweep.machine import Device, there
from extrap.runs.layout import RUNS
from extrap.utils import lock
from extrap.utils.errors import UserError

OPTION = "hydra.launcher.per_device"


class Slots:
    """A context that gives each job a device.

    Args:
        known: the devices
        per_device: jobs side by side on each
    """

    def __init__(self, known: Sequence[Device], per_device: int = 1) -> None:
        self.known, self.per_device = list(known), per_device
        self.folder = RUNS / ".slots" / socket.gethostname()
        self._held: dict[tuple[Device, int], ExitStack] = {}
        self._own = ExitStack()

    def __enter__(self) -> Self:
        """Raises UserError if another sweep packs these devices otherwise."""
        sweeps, own = self.folder / "sweeps", f"{self.per_device}-{os.getpid()}"
        with ExitStack() as entered:
            entered.enter_context(lock.alone(sweeps, own))
            entered.callback((sweeps / f"{lock.NAME}-{own}").unlink, missing_ok=True)
            for path in sweeps.glob(f"{lock.NAME}-*"):
                work = path.name.removeprefix(f"{lock.NAME}-")
                if (holder := lock.holder(sweeps, work)) is None:
                    path.unlink(missing_ok=True)
                elif (per := work.partition("-")[0]) != str(self.per_device):
                    problem = f"{holder} has a sweep here with {per} jobs on a device"
                    remedy = f"give {OPTION}={per}, or wait for its end"
                    raise UserError(OPTION, self.per_device, problem, remedy)
            self._own = entered.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.give([device for device, _ in self._held])
        self._own.close()

    def take(self, count: int) -> list[Device] | None:
        """Takes places on `count` different devices, the emptiest first; None if fewer are free."""
        order = sorted(self.known, key=lambda one: sum(device is one for device, _ in self._held))
        taken: list[Device] = []
        for device in order:
            if len(taken) < count and self._take(device):
                taken.append(device)
        if len(taken) == count:
            return taken
        self.give(taken)
        return None

    def give(self, taken: Sequence[Device]) -> None:
        """Gives one place on each of these devices back."""
        for device in taken:
            place = next(place for place in self._held if place[0] is device)
            self._held.pop(place).close()

    def forget(self, suspects: Sequence[Device]) -> list[Device]:
        """Returns those of these devices that the driver lists no more; nobody gets them again."""
        gone = [device for device in suspects if not there(device)]
        self.known = [device for device in self.known if device not in gone]
        return gone

    def _take(self, device: Device) -> bool:
        for n in range(self.per_device):
            if (device, n) in self._held:
                continue
            with ExitStack() as entered:
                try:
                    entered.enter_context(lock.alone(self._place(device), str(n), wait=False))
                except lock.Held:
                    continue
                self._held[device, n] = entered.pop_all()
                return True
        return False

    def _place(self, device: Device) -> Path:
        return self.folder / re.sub(r"[^A-Za-z0-9]", "_", device.key)
