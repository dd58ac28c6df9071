"""The sweeper `local`: every combination of the values given, handed to the launcher unread, because that reads them all and lists every mistake."""

from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from extrap.errors import UserError


class LocalSweeper(Sweeper):
    """`params`: what an experiment sweeps over, option -> values as on the command line, which has the last word."""

    def __init__(self, params: dict[str, str] | None) -> None:
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.loader = hydra_context.config_loader
        self.launcher = Plugins.instance().instantiate_launcher(hydra_context=hydra_context, task_function=task_function, config=config)

    def sweep(self, arguments: list[str]) -> Any:
        """Launches one job per combination; raises UserError for an option whose values match nothing."""
        words = [f"{key}={value}" for key, value in self.params.items()] + arguments
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(words)
        for override in overrides:
            if override.is_sweep_override() and not override.is_discrete_sweep():
                raise UserError(f"{override.input_line}: values without end; list them, or give a range with a step")
            if override.is_discrete_sweep() and not list(override.sweep_string_iterator()):
                raise UserError(f"{override.input_line}: matches none of {', '.join(self.loader.get_group_options(override.key_or_group))}")
        [jobs] = BasicSweeper.split_arguments(overrides, None)
        results = self.launcher.launch(jobs, initial_job_idx=0)
        return [result.return_value for result in results]
