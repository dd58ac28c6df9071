"""The sweeper `local`: every combination of the values given, unread: the launcher reads them all
and lists every mistake.
"""

from itertools import chain, islice
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from extrap.cli.config_guard import check_names
from extrap.cli.sweep import grid
from extrap.cli.sweep.grid import MOST
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

OF_FILES = 10_000
"""Jobs of the grids of a file, which nobody typed."""


class LocalSweeper(Sweeper):
    """Sweeps the grids of the configuration (extrap.cli.sweep.grid), one after the other; the
    command line has the last word.
    """

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.grids = grid.overrides(grid.selected(config, "grid"))
        self.loader: Any = hydra_context.config_loader
        self.launcher: Launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Launches one job per combination. Raises UserError for an option without values, for a
        choice of a grid that is no name, and for more than MOST jobs, or OF_FILES jobs of grids.
        """
        parser = OverridesParser.create(config_loader=self.loader)
        grids = [parser.parse_overrides(own) for own in self.grids]
        for one in chain(*grids):
            check_names(one, conf_dir())
        jobs: list[list[str]] = []
        for words in grid.chosen(grids, parser.parse_overrides(arguments)):
            jobs += self._jobs(words)
            if any(self.grids) and len(jobs) > OF_FILES:
                problem, remedy = f"more than {OF_FILES:,} jobs", "give fewer values"
                raise UserError("sweep.grid", problem=problem, remedy=remedy)
        results = self.launcher.launch(jobs, initial_job_idx=0)
        return [result.return_value for result in results]

    def _jobs(self, words: list[str]) -> list[list[str]]:
        """Returns the jobs of a grid. If an option occurs twice, the last one counts, as in Hydra's
        own sweeper.
        """
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(words)
        jobs = 1
        for override in {one.get_key_element(): one for one in overrides}.values():
            if not override.is_discrete_sweep():
                continue
            values = sum(1 for _ in islice(override.sweep_string_iterator(), MOST + 1))
            jobs *= values
            if jobs > MOST:
                raise UserError(
                    f"{override.input_line}: more than {MOST} jobs in one sweep; give fewer values"
                )
            if not values:
                known = ", ".join(self.loader.get_group_options(override.key_or_group))
                raise UserError(f"{override.input_line}: matches none of {known}")
        [found] = BasicSweeper.split_arguments(overrides, None)
        return found
