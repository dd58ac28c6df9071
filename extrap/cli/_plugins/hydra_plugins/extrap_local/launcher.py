"""The launcher `local`: reads and checks every job of a sweep, runs each in a fresh process."""

import os
import sys
from contextlib import nullcontext
from typing import Any

from hydra_plugins.extrap_local.reading import Reader
from omegaconf import DictConfig

from extrap.cli.sweep import machine, pool
from extrap.cli.sweep.display import Status, foreseen
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.machine import Device
from extrap.cli.sweep.process import Process
from extrap.cli.sweep.slots import OPTION, Slots
from extrap.runs.cost import PER_DEVICE
from extrap.utils.cores import SHARE, cores
from extrap.utils.errors import UserError

N_JOBS = "hydra.launcher.n_jobs"


class LocalLauncher(Reader):
    """The launcher that runs jobs side by side on this machine.

    Args:
        n_jobs: jobs side by side at most; null: `sweep.jobs` of the configuration, or else as many
            as the GPUs of this machine hold, or can have `threads` cores each
        per_device: jobs side by side on a GPU
    """

    devices: tuple[Device, ...] = ()

    def __init__(self, n_jobs: int | None, per_device: int) -> None:
        self.n_jobs, self.per_device = n_jobs, per_device

    def setup(self, *, config: DictConfig, **more: Any) -> None:
        super().setup(config=config, **more)
        jobs, least = selected(config, "jobs"), "must be a whole number from 1"
        for option, n in ((N_JOBS, self.n_jobs), ("sweep.jobs", jobs)):
            if n is not None and (type(n) is not int or n < 1):
                raise UserError(f"{option}={n}: {least}, or null for cores // threads")
        if type(self.per_device) is not int or self.per_device < 1:
            raise UserError(OPTION, self.per_device, least)
        self.jobs_of_file = jobs

    def check(self, jobs: list[Process]) -> None:
        """Finds the devices. Raises UserError for jobs that need more than there are."""
        if (nodes := max((job.nodes for job in jobs), default=1)) > 1:
            remedy = "hydra/launcher=slurm starts jobs of several nodes"
            raise UserError("trainer.num_nodes", nodes, "this sweep has one machine", remedy)
        if not (gpus := max((job.gpus for job in jobs), default=0)):
            return
        self.devices = tuple(machine.devices())
        here = len(self.devices)
        if not here:
            remedy = f"give trainer=cpu, or set {machine.NVIDIA} where no nvidia-smi lists the GPUs"
            raise UserError("trainer.accelerator", "gpu", "this machine shows no GPU", remedy)
        if gpus > here:
            problem = f"this machine shows {here}"
            raise UserError("trainer.devices", gpus, problem, f"give {here} or fewer")
        if gpus > 1 and any(device.key.startswith("MIG") for device in self.devices):
            remedy = "give trainer.devices=1"
            raise UserError("trainer.devices", gpus, "a process sees one part of a GPU", remedy)
        if here % gpus:
            line = f"{gpus} devices a job leave {here % gpus} of {here} idle"
            print(f"extrap: trainer.devices={gpus}: {line}", file=sys.stderr)
        most = here // gpus * self.per_device
        if self.n_jobs is not None and self.n_jobs > most:
            problem = f"{here} devices hold {most} jobs of {gpus} each"
            remedy = f"leave it out, or pack more jobs on a device by {OPTION}"
            raise UserError(N_JOBS, self.n_jobs, problem, remedy)

    def run(self, jobs: list[Process]) -> None:
        places = self._places(jobs)
        n_jobs = self.n_jobs or min(self.jobs_of_file or places, places)
        if (line := foreseen(jobs, n_jobs)) is not None:
            print(f"extrap: {line}", file=sys.stderr)
        slots = Slots(self.devices, self.per_device) if self.devices else None
        each = min(job.processes for job in jobs)
        shares = {SHARE: max(1, cores() // (n_jobs * each)), PER_DEVICE: self.per_device}
        os.environ |= {name: str(share) for name, share in shares.items()}
        try:
            with slots or nullcontext():
                live = sys.stderr.isatty()
                status = Status(jobs, n_jobs, live, foretells=line is None)
                pool.run(jobs, n_jobs, status, slots)
        finally:
            for name in shares:
                del os.environ[name]

    def _places(self, jobs: list[Process]) -> int:
        if self.devices:
            least = min((job.gpus for job in jobs if job.gpus), default=1)
            return len(self.devices) // least * self.per_device
        return self.jobs_of_file or max(
            1, cores() // max(job.threads * job.processes for job in jobs)
        )
