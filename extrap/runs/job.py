"""One configuration made into objects: what to train, on what, and how to measure it. Building it
is the check of its options.
"""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch

from extrap.data.corpora.base import Corpus, Encoded
from extrap.data.mixture import Batches, Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.extensions.base import Extension
from extrap.model.gpt import GPT
from extrap.model.linear import Word
from extrap.model.scheme import Shape
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.results.places import place
from extrap.runs.build import build
from extrap.runs.choices import changed, node
from extrap.runs.course import Course
from extrap.runs.dashboard import Dashboard
from extrap.runs.dashboard.page import Page
from extrap.runs.dashboard.view_only import ViewOnly
from extrap.runs.finetuned import FineTuned
from extrap.runs.folder import Run
from extrap.runs.layout import DIRECT, RESULTS
from extrap.runs.linear import choose
from extrap.runs.pretraining import Pretraining
from extrap.runs.published import Published
from extrap.runs.training.optim import Optim
from extrap.tasks.base import Task
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import check_plugins

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class Job:
    """config: the composed configuration as plain values; choices: the name chosen in each group;
    opened: the corpus of a source.

    Nothing is built before it is asked for; extrap/runs/validate.py asks for everything.
    """

    def __init__(
        self,
        config: dict[str, Any],
        choices: dict[str, str],
        opened: Callable[[Encoded], Corpus] = lambda source: source.open(),
    ):
        self.config = config
        self.choices = choices
        check_plugins(config["plugins"])
        self.study: str = config["study"]
        self.seed: int = config["seed"]
        self.stage: str = config["stage"]
        self.data_name: str = choices["data"]
        self.published = Published.meant(config)
        label = config["label"] or choices["model" if self.published else "scheme"]
        if self.published and config["model"].get("chat") is True and not config["label"]:
            label += "-chat"  # a series of its own
        self.base = (Published if self.published else Pretraining)(config, label, opened)
        for option, value in (("study", self.study), ("label", self.base.label)):
            if not NAME.fullmatch(value):
                raise UserError(
                    f"{option}={value}: letters, digits, dot, hyphen and underscore, starting "
                    "with a letter or digit"
                )
        for option, low, high in (("threads", 1, 1024), ("seed", 0, 2**32 - 1)):
            if not low <= config[option] <= high:
                raise UserError(f"{option}={config[option]}: a whole number from {low} to {high}")

    def _build(self, option: str, kind: type, **given: Any) -> Any:
        return build(self.config[option], option, self.config["plugins"], kind, **given)

    @property
    def optim(self) -> Optim:
        return self.base.optim

    @property
    def as_published(self) -> bool:
        """Whether the run is a checkpoint as others left it, not tuned."""
        return self.published and self.tuned is None

    @property
    def _trained_here(self) -> Pretraining:
        """What a published checkpoint has none of is asked of others alone."""
        return cast(Pretraining, self.base)

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights while they are trained."""
        return self.base.dtype

    @property
    def mixture(self) -> Mixture:
        return self._trained_here.mixture

    @property
    def vocabulary(self) -> Vocabulary:
        return self.base.vocabulary

    def vocabulary_of(self, task: Task) -> Vocabulary:
        """Of a checkpoint, one with words for keys and values where the task can ask in them."""
        known = self.vocabulary
        return known.words if task.words and isinstance(known, PublishedVocabulary) else known

    @property
    def length(self) -> int:
        """L, the training length in tokens, also where the run is tuned on longer windows."""
        return self.base.length

    @property
    def corpus(self) -> Corpus:
        return self.base.corpus

    @property
    def batches(self) -> Batches:
        return self._trained_here.batches

    @property
    def shape(self) -> Shape:
        return self.base.shape

    @property
    def params(self) -> int:
        return self.base.params

    @property
    def trainer(self) -> dict[str, Any]:
        return self.base.trainer

    def model(self, device: str = "cpu") -> GPT:
        """A new GPT, untrained."""
        return self.base.model(device)

    def untrained(self, layers: int | None = None) -> GPT:
        """The extended model before training, of another depth where one is asked for. Raises
        UserError where the scheme lacks it.
        """
        if isinstance(self.base, Published):
            return self.extension(self.base.untrained(layers))
        shallow = {} if layers is None else {"model": self.config["model"] | {"layers": layers}}
        base = Pretraining(self.config | shallow, self.base.label, lambda source: self.corpus)
        return self.extension(base.model())

    @cached_property
    def extension(self) -> Any:
        return self._build("extension", Extension)

    @cached_property
    def extension_options(self) -> dict[str, str]:
        """Options of the extension that differ from its file, written short: names tell its
        variants apart.
        """
        return changed(
            self.config["extension"],
            node("extension", self.choices["extension"]),
            self.config["plugins"],
        )

    @property
    def extension_name(self) -> str:
        """The choice and its changed options, without the factor, which has a column of its own:
        `rerope,width=16`.
        """
        options = [
            f"{key}={value}"
            for key, value in self.extension_options.items()
            if key.split(".")[-1] != "factor"
        ]
        return ",".join([self.choices["extension"], *options])

    @property
    def extension_stem(self) -> str:
        """The same with the factor, for the names of files."""
        return ",".join(
            [
                self.choices["extension"],
                *(f"{key}={value}" for key, value in self.extension_options.items()),
            ]
        )

    @property
    def task_names(self) -> list[str]:
        tasks = self.config["task"]
        if not isinstance(tasks, dict) or not all(NAME.fullmatch(str(name)) for name in tasks):
            raise UserError(f"task={tasks}: choices of conf/task by name, such as task=[nll,kv]")
        return [name for name in tasks if name not in self.unasked]

    @property
    def unasked(self) -> list[str]:
        """Tasks that an experiment has options for, and the command line has not chosen."""
        options = {
            name
            for name, given in self.config["task"].items()
            if isinstance(given, dict) and "_target_" not in given
        }
        return sorted(
            name for name in options if (Path(conf_dir()) / "task" / f"{name}.yaml").is_file()
        )

    @cached_property
    def _built(self) -> tuple[dict[str, Task], dict[str, UserError]]:
        """Tasks by name, and with keep_going=true what is wrong with others. Raises UserError where
        one cannot be run, or with it none.
        """
        tasks: dict[str, Task] = {}
        refused: dict[str, UserError] = {}
        for name in self.task_names:
            try:
                task = build(
                    self.config["task"][name], f"task.{name}", self.config["plugins"], Task
                )
                task.check(self.corpus, self.vocabulary_of(task), self.length)
                tasks[name] = task
            except UserError as error:
                said = str(error)
                if said.startswith("task: "):  # of a vocabulary that several tasks ask
                    error = UserError(f"task.{name}: {said.removeprefix('task: ')}")
                refused[name] = error
                if not self.config["keep_going"] or len(refused) == len(self.task_names):
                    raise error from None
        return tasks, refused

    @property
    def tasks(self) -> dict[str, Task]:
        """By name, those that can be run."""
        return self._built[0]

    @property
    def refused(self) -> dict[str, UserError]:
        """The other ones, which keep_going=true leaves out."""
        return self._built[1]

    @cached_property
    def dashboard(self) -> Any:
        return ViewOnly(self._build("logger", Dashboard))

    def start_dashboard(self, course: Course | None = None) -> None:
        """Opens the page of this job, or that of the course that comes before its own."""
        own = course in (None, self.course)
        run, label = (self.run, self.label) if own else (self.base.run, self.base.label)
        extension = self.extension_stem if own else DIRECT
        names = self.study, run.name, extension, label, self.trained_on
        self.dashboard.start(
            Page(*names, self.seed, self.length, tuple(self.task_names), run.identity)
        )

    @property
    def trained_on(self) -> str:
        """The data set of the last training by name; "published" where it was not ours."""
        return "published" if self.published and not self.config["finetune"] else self.data_name

    @cached_property
    def tuned(self) -> FineTuned | None:
        """How the run is fine-tuned, if it is."""
        if not self.config["finetune"]:
            return None
        return FineTuned(self.base, self.choices, self.extension, self.extension_name)

    @property
    def course(self) -> Course:
        """Whose steps the stage `train` takes."""
        return cast(Course, self.tuned or self.base)

    @property
    def label(self) -> str:
        """Name of the series in rows and figures."""
        return self.base.label if self.tuned is None else self.tuned.label

    @property
    def run(self) -> Run:
        return self.course.run

    @property
    def linear(self) -> Word:
        """Which library computes the linear layers of this run on a CPU."""
        return self.library(self.run)

    def library(self, run: Run) -> Word:
        return choose(self.config["linear"], self.trainer, run)

    @property
    def results(self) -> Path:
        return place(RESULTS, self.study)
