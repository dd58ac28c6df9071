"""One configuration made into objects: what to train, on what, and how to measure it. Building it is the check of its options."""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from extrap import checks
from extrap.applicable import changed, node
from extrap.build import build, check_arguments
from extrap.dashboard import Dashboard
from extrap.dashboard.page import Page
from extrap.data.corpus import Corpus, Encoded
from extrap.data.mixture import Batches, Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.errors import UserError
from extrap.extension import Extension
from extrap.gpt import GPT
from extrap.limits import check_model, check_named, check_scheme
from extrap.optim import Optim
from extrap.paths import conf_dir
from extrap.runs import Run
from extrap.scheme import Scheme, Shape
from extrap.tuned import Tuned

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
NEEDED = ("study", "seed", "stage", "threads", "label", "plugins", "keep_going", "scheme", "extension", "finetune", "model", "data",
          "task", "train", "trainer", "logger")  # fmt: skip
RESULTS = Path("results")


class Job:
    """config: the composed configuration as plain values; choices: the name chosen in each group; opened: the corpus of a source.

    Nothing is built before it is asked for; `check` asks for everything and raises UserError for what does not hold.
    """

    def __init__(self, config: dict[str, Any], choices: dict[str, str], opened: Callable[[Encoded], Corpus] = lambda source: source.open()):
        self.config, self.choices, self.opened = config, choices, opened
        named = ("scheme", "extension", "data")
        if missing := [name for name in NEEDED if name not in config or (name in named and name not in choices)]:
            raise UserError(f"{missing[0]}: taken out of the configuration; leave ~{missing[0]} away")
        if not all(isinstance(name, str) and name.isidentifier() for name in config["plugins"]):
            raise UserError(f"plugins={config['plugins']}: names of packages, such as plugins=[my_package]")
        self.study, self.seed, self.stage = config["study"], config["seed"], config["stage"]
        self.plain_label = config["label"] or choices["scheme"]
        self.data_name = choices["data"]
        for option, value in (("study", self.study), ("label", self.plain_label)):
            if not NAME.fullmatch(value):
                raise UserError(f"{option}={value}: letters, digits, dot, hyphen and underscore, starting with a letter or digit")
        for option, low, high in (("threads", 1, 1024), ("seed", 0, 2**32 - 1)):
            if not low <= config[option] <= high:
                raise UserError(f"{option}={config[option]}: a whole number from {low} to {high}")

    def _build(self, option: str, kind: type, **given: Any) -> Any:
        return build(self.config[option], option, self.config["plugins"], kind, **given)

    @cached_property
    def optim(self) -> Optim:
        try:
            return Optim(**self.config["train"])
        except ValueError as error:
            raise UserError(f"train.{error}") from None

    @cached_property
    def mixture(self) -> Mixture:
        return self._build("data", Mixture)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.mixture.vocabulary

    @property
    def length(self) -> int:
        return self.mixture.length

    @cached_property
    def corpus(self) -> Corpus:
        return self.opened(self.mixture.source)

    @cached_property
    def batches(self) -> Batches:
        return Batches(self.mixture, self.corpus, self.seed, self.optim.steps)

    @cached_property
    def shape(self) -> Shape:
        m = self.config["model"]
        check_named(m)
        check_arguments(GPT, m, "model", ("scheme", "vocab"))
        check_model(m)
        check_scheme(self.config["scheme"])
        return Shape(m["dim"], m["heads"], m["layers"], self.length, self.vocabulary.size, m["norm"])

    def scheme(self) -> Scheme:
        """A new scheme, its parameters drawn from the run's seed."""
        torch.manual_seed(self.seed + 1_000_003)
        return self._build("scheme", Scheme, shape=self.shape)

    def model(self, device: str = "cpu") -> GPT:
        """A new GPT; what it shares with those of other schemes starts from the same numbers."""
        scheme = self.scheme()
        torch.manual_seed(self.seed)
        with torch.device(device):
            return build(self.config["model"] | {"_target_": "extrap.gpt.GPT"}, "model", scheme=scheme, vocab=self.vocabulary.size)

    def untrained(self, layers: int | None = None) -> GPT:
        """The extended model before training, of another depth where one is asked for. Raises UserError where the scheme lacks it."""
        shallow = {} if layers is None else {"model": self.config["model"] | {"layers": layers}}
        return self.extension(Job(self.config | shallow, self.choices, self.opened).model())

    @cached_property
    def params(self) -> int:
        """Parameters of the model, counted without filling the matrices."""
        return sum(p.numel() for p in self.model("meta").parameters())

    @cached_property
    def extension(self) -> Any:
        return self._build("extension", Extension)

    @cached_property
    def extension_options(self) -> dict[str, str]:
        """Options of the extension that differ from its file, written short: names tell its variants apart."""
        return changed(self.config["extension"], node("extension", self.choices["extension"]), self.config["plugins"])

    @property
    def extension_name(self) -> str:
        """The choice and its changed options, without the factor, which has a column of its own: `rerope,width=16`."""
        options = [f"{key}={value}" for key, value in self.extension_options.items() if key.split(".")[-1] != "factor"]
        return ",".join([self.choices["extension"], *options])

    @property
    def extension_stem(self) -> str:
        """The same with the factor, for the names of files."""
        return ",".join([self.choices["extension"], *(f"{key}={value}" for key, value in self.extension_options.items())])

    @property
    def task_names(self) -> list[str]:
        tasks = self.config["task"]
        if not isinstance(tasks, dict) or not all(NAME.fullmatch(str(name)) for name in tasks):
            raise UserError(f"task={tasks}: choices of conf/task by name, such as task=[nll,kv]")
        return [name for name in tasks if name not in self.unasked]

    @property
    def unasked(self) -> list[str]:
        """Tasks that an experiment has options for, and the command line has not chosen."""
        options = {name for name, given in self.config["task"].items() if isinstance(given, dict) and "_target_" not in given}
        return sorted(name for name in options if (Path(conf_dir()) / "task" / f"{name}.yaml").is_file())

    @cached_property
    def _asked(self) -> tuple[dict[str, Any], dict[str, UserError]]:
        return checks.asked(self)

    @property
    def tasks(self) -> dict[str, Any]:
        """By name, those that can be asked."""
        return self._asked[0]

    @property
    def refused(self) -> dict[str, UserError]:
        """The other ones, which keep_going=true leaves out."""
        return self._asked[1]

    @cached_property
    def trainer(self) -> dict[str, Any]:
        if not isinstance(self.config["trainer"], dict):
            what = f"trainer={self.config['trainer']}"
            raise UserError(f"{what}: must be arguments of a trainer; choose one of conf/trainer, such as trainer=cpu")
        return dict(self.config["trainer"])

    @cached_property
    def dashboard(self) -> Any:
        return self._build("logger", Dashboard)

    def start_dashboard(self) -> None:
        names = self.study, self.run.name, self.extension_stem, self.label, self.data_name
        self.dashboard.start(Page(*names, self.seed, self.length, tuple(self.task_names), self.run.identity))

    @cached_property
    def tuned(self) -> Tuned | None:
        """How the run is fine-tuned, if it is."""
        return Tuned(self) if self.config["finetune"] else None

    @property
    def course(self) -> "Job | Tuned":
        """Whose steps stage train takes: run, optim, batches, begin, end."""
        return self.tuned or self

    def begin(self) -> GPT:
        """The model that training begins with."""
        return self.model()

    def end(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """What is kept of the weights that training ended with."""
        return weights

    @property
    def label(self) -> str:
        """Name of the series in rows and figures."""
        return self.plain_label if self.tuned is None else self.tuned.label

    @cached_property
    def run(self) -> Run:
        """Identity: everything that can change the weights except the seed; text and tokenizer by their content, not by their path."""
        if self.tuned is not None:
            return self.tuned.run
        said = {name: self.config[name] for name in ("scheme", "model", "train", "trainer", "threads")}
        return Run(self.label, said | {"data": self.described(self.config["data"]), "corpus": self.corpus.sha256}, self.seed)

    @staticmethod
    def described(data: dict[str, Any]) -> dict[str, Any]:
        """What an identity says of a mixture."""
        said = {name: value for name, value in data.items() if name != "corpus" and (name, value) != ("more", None)}
        return said | {"vocabulary": {name: value for name, value in data["vocabulary"].items() if name != "tokenizer"}}

    @property
    def results(self) -> Path:
        return RESULTS / self.study

    def check(self) -> None:
        """Raises UserError for anything in the configuration that cannot work. Reads the corpus, builds the model, trains nothing."""
        checks.check(self)
