"""The launcher `ray`: reads and checks every job of a sweep, then gives the unfinished jobs to a
Ray cluster.
"""

# pyright: reportMissingImports=false
# Ray is an extra, which those who check types may lack

import logging
import sys
from importlib.util import find_spec
from typing import Any

from hydra_plugins.extrap_local.reading import Reader, tell_held
from omegaconf import DictConfig

from extrap.cli.sweep import on_ray
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process
from extrap.utils.errors import UserError
from extrap.utils.pip import install_extra

LAUNCHER = "hydra/launcher=ray"


class RayLauncher(Reader):
    """The launcher that runs each job as a task of a Ray cluster.

    Args:
        address: of the cluster; auto: the one of RAY_ADDRESS or of this machine; local: starts one
            here for this sweep
        retries: times that a job starts again after its node was lost
    """

    def __init__(self, address: str, retries: int) -> None:
        self.address, self.retries = address, retries

    def setup(self, *, config: DictConfig, **more: Any) -> None:
        """Raises UserError without Ray, and for an option out of bounds."""
        super().setup(config=config, **more)
        if type(self.retries) is not int or self.retries < 0:
            problem = "must be a whole number from 0"
            raise UserError("hydra.launcher.retries", self.retries, problem)
        if find_spec("ray") is None:
            raise UserError(LAUNCHER, problem="needs ray", remedy=install_extra("ray"))

    def check(self, jobs: list[Process]) -> None:
        """Raises UserError for a job of several nodes."""
        if (nodes := max((job.nodes for job in jobs), default=1)) > 1:
            remedy = "hydra/launcher=slurm starts jobs of several nodes"
            raise UserError("trainer.num_nodes", nodes, "a task of Ray has one node", remedy)

    def run(self, jobs: list[Process]) -> None:
        if not (left := self.left(jobs)):
            return
        import ray

        try:
            ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            problem = str(error).splitlines()[0]
            remedy = "start one by `ray start --head`, or give hydra.launcher.address=local"
            raise UserError("hydra.launcher.address", self.address, problem, remedy) from None
        try:
            nodes = ray.nodes()
            if (line := on_ray.unheld(nodes, left)) is not None:
                print(f"extrap: {line}", file=sys.stderr)
            on_ray.run(ray, left, self.retries, Status(left), nodes)
        finally:
            ray.shutdown()
        tell_held(left)
