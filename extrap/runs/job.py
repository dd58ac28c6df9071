"""One configuration made into objects, whose options are checked."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from extrap.extensions.base import Extension
from extrap.results.places import place
from extrap.runs.build import build
from extrap.runs.choices import changed, node, of_others, served, without_factor, written
from extrap.runs.dashboard import Dashboard, ViewOnly
from extrap.runs.dashboard.page import Page
from extrap.runs.finetuned import FineTuned, Training
from extrap.runs.folder import Run
from extrap.runs.fresh import Fresh
from extrap.runs.layout import CURVE, DIRECT, RESULTS, USED, check_part
from extrap.runs.source import Source
from extrap.tasks.base import Setting, Task
from extrap.utils import progress
from extrap.utils.errors import UserError
from extrap.utils.plugins import check_plugins

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class Job:
    """One run under one extension, and its tasks.

    config     the composed configuration as plain values
    choices    the name chosen in each group
    source     the model before this job, its text and its tokens
    training   the training of the run; None for a checkpoint as others left it
    extension  the extension of every evaluation
    changed    its options that differ from its file, written short, for names
    dashboard  the view of training and rows
    """

    config: dict[str, Any]
    choices: dict[str, str]
    source: Source
    training: Training | None
    extension: Extension
    changed: dict[str, str]
    dashboard: ViewOnly

    @property
    def study(self) -> str:
        return self.config["study"]

    @property
    def stage(self) -> str:
        return self.config["stage"]

    @cached_property
    def run(self) -> Run:
        return (self.training or self.source).run

    @cached_property
    def label(self) -> str:
        """The name of the series in rows and figures."""
        return (self.training or self.source).label

    @property
    def extension_name(self) -> str:
        """The extension in rows: `rerope,width=16`; the factor has a column of its own."""
        return written(self.choices["extension"], without_factor(self.changed))

    @property
    def extension_stem(self) -> str:
        """The extension in names of files, with the factor."""
        return written(self.choices["extension"], self.changed)

    @property
    def trainings(self) -> list[Training]:
        """The trainings of the run and its parent, in their order."""
        parent = self.training and self.training.parent
        return [training for training in (parent, self.training) if training]

    @property
    def trained_on(self) -> str:
        """The data set of the last training; "published" for the data of others."""
        return self.choices["data"] if self.training else "published"

    @property
    def results(self) -> Path:
        return place(RESULTS, self.study)

    # --- tasks

    @property
    def task_names(self) -> list[str]:
        tasks = self.config["task"]
        if not all(NAME.fullmatch(str(name)) for name in tasks):
            raise UserError("task", tasks, "choices of conf/task by name, such as task=[nll,kv]")
        for name in tasks:
            check_part("task", name)
            if name in (CURVE, USED):
                problem = "extrap writes rows of its own under this name"
                raise UserError("task", name, problem, "rename its file and its options")
        return [name for name in tasks if name not in self.unasked]

    @property
    def unasked(self) -> list[str]:
        """Tasks with options in an experiment that the command line did not choose."""
        tasks = self.config["task"].items()
        bare = [name for name, own in tasks if isinstance(own, dict) and "_target_" not in own]
        return sorted(name for name in bare if node("task", name) is not None)

    @cached_property
    def _built(self) -> tuple[dict[str, Task], dict[str, UserError]]:
        """Tasks and errors of `_checked`, on the text."""
        return self._checked(lambda task: task.check(self.setting_of(task)))

    def check_source(self) -> None:
        """Raises UserError for a task that no text of the source suits, before the text is read."""
        text, length = self.source.text, self.source.length
        self._checked(lambda task: task.check_source(text, length))

    def _checked(
        self, check: Callable[[Task], None]
    ) -> tuple[dict[str, Task], dict[str, UserError]]:
        """Returns tasks by name, and with keep_going=true the errors of tasks that cannot run."""
        tasks: dict[str, Task] = {}
        refused: dict[str, UserError] = {}
        plugins = self.config["plugins"]
        for name in self.task_names:
            try:
                task = build(self.config["task"][name], f"task.{name}", plugins, Task)
                check(task)
                tasks[name] = task
            except UserError as error:
                if error.option == "task":  # of a vocabulary that several tasks use
                    error = UserError(f"task.{name}", error.value, error.problem, error.remedy)
                refused[name] = error
                if not self.config["keep_going"] or len(refused) == len(self.task_names):
                    raise error from None
        return tasks, refused

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks that can run, by name."""
        return self._built[0]

    @property
    def refused(self) -> dict[str, UserError]:
        """The errors of the other tasks."""
        return self._built[1]

    def setting_of(self, task: Task) -> Setting:
        """Returns the setting of a task, with words as keys and values if it can use them."""
        own = self.source.vocabulary
        return Setting(self.source.corpus, own.words if task.words else own, self.source.length)

    # --- the machine

    def show(self, training: Training | None = None) -> None:
        """Opens the dashboard's page of this job, or the page of a training before its own."""
        own = training in (None, self.training)
        of = training or self.training or self.source
        page = Page(
            study=self.study,
            run=of.run.name,
            extension=self.extension_stem if own else DIRECT,
            scheme=of.label,
            data=self.trained_on,
            seed=of.run.seed,
            train_length=self.source.length,
            tasks=tuple(self.task_names),
            options=of.run.identity,
            size=self.source.params,
            by_agent=own and progress.FILE not in os.environ,  # no job of a sweep
        )
        self.dashboard.start(page)


def source_of(config: Mapping[str, Any]) -> type[Source]:
    """Returns the kind of source that a configuration is about. A checkpoint of others loads
    extrap.pretrained, which no other run needs.
    """
    if not of_others(config):
        return Fresh
    if served(config):
        from extrap.runs.served import Served

        return Served
    from extrap.runs.published import Published

    return Published


def make(
    config: dict[str, Any],
    choices: dict[str, str],
    given: Callable[..., Source] | None = None,
) -> Job:
    """Returns the Job of a composed configuration. given: makes the source of a model in a
    variable. Raises UserError for names and numbers that no job can have;
    extrap/runs/validate.py checks the rest.
    """
    plugins, choice = config["plugins"], choices["extension"]
    check_plugins(plugins)
    source = (given or source_of(config))(config, choices)
    for option, value in (("study", config["study"]), ("label", source.label)):
        if not NAME.fullmatch(value):
            problem = "letters, digits, dot, hyphen and underscore, starting with a letter or digit"
            raise UserError(option, value, problem)
    for option, low, high in (("threads", 1, 1024), ("seed", 0, 2**32 - 1)):
        if not low <= config[option] <= high:
            raise UserError(option, config[option], f"a whole number from {low} to {high}")
    extension = build(config["extension"], "extension", plugins, Extension)
    own = changed(config["extension"], node("extension", choice), plugins)
    fresh = source if isinstance(source, Fresh) else None
    name = written(choice, without_factor(own))
    training = FineTuned(source, fresh, extension, name) if config["finetune"] else fresh
    if training is None and config["stage"] == "train":
        remedy = "stage=evaluate evaluates it, finetune=lora tunes it"
        raise UserError("stage", "train", f"{source.label} is trained already", remedy)
    dashboard = ViewOnly(build(config["logger"], "logger", plugins, Dashboard))
    return Job(config, choices, source, training, extension, own, dashboard)
