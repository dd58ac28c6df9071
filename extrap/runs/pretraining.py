"""Training from scratch: what is trained, on what and how, and the name that follows from it."""

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from extrap.data.corpora.base import Corpus, Encoded
from extrap.data.mixture import Batches, Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.runs.build import build, shown
from extrap.runs.checkpoint import trained_weights
from extrap.runs.folder import Run
from extrap.runs.training.devices import DTYPES, precision
from extrap.runs.training.optim import Optim
from extrap.runs.validate import check_model
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

OPTIM = {"_target_": "extrap.runs.training.optim.Optim"}
DECODER = {"_target_": "extrap.model.decoder.Decoder"}
UNSEEN = ("log_every", "save_every")
"""Options of training that leave the weights as they are."""


class Pretraining:
    """The course of a run that begins with random weights.

    Nothing is built before it is asked for.

    Args:
        config: the composed configuration as plain values
        label: name of the series in rows and figures
        opened: the corpus of a source
    """

    parent = None
    verb = "train"

    def __init__(
        self,
        config: Mapping[str, Any],
        label: str,
        opened: Callable[[Encoded], Corpus] = lambda source: source.open(),
    ):
        self.config = config
        self.label = label
        self.opened = opened
        self.seed: int = config["seed"]

    def _build(self, option: str, kind: type, **given: Any) -> Any:
        return build(self.config[option], option, self.config["plugins"], kind, **given)

    @cached_property
    def optim(self) -> Optim:
        return build(self.config["train"] | OPTIM, "train")

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

    @property
    def steps(self) -> int:
        """Steps that a tuning follows on."""
        return self.optim.steps

    @property
    def reads(self) -> dict[str, Any]:
        """Text and vocabulary of a mixture, which tuning reads as training did."""
        return {name: self.config["data"][name] for name in ("corpus", "vocabulary")}

    def mixture_of(self, data: Mapping[str, Any]) -> Mixture:
        """Another mixture of the same text and vocabulary, from its options."""
        return build(data, "data", self.config["plugins"], Mixture)

    @property
    def about_tuning(self) -> dict[str, Any]:
        """What tuning depends on and the identity of this run does not say: nothing."""
        return {}

    def check_tuned(self) -> None:
        """Raises UserError for options that tuning cannot go with; training has seen to them."""

    @cached_property
    def shape(self) -> Shape:
        m = self.config["model"]
        check_model(m)
        return shape_of(m, self.length, self.vocabulary.size)

    def scheme(self) -> Scheme:
        """A new scheme, its parameters drawn from the run's seed."""
        torch.manual_seed(self.seed + 1_000_003)
        return self._build("scheme", Scheme, shape=self.shape)

    def model(self, device: str = "cpu") -> GPT:
        """A new GPT; what it shares with those of other schemes starts from the same numbers."""
        scheme = self.scheme()
        torch.manual_seed(self.seed)
        with torch.device(device):
            return GPT(scheme, self.vocabulary.size, build(self.config["model"] | DECODER, "model"))

    @cached_property
    def params(self) -> int:
        """Parameters of the model, counted without filling the matrices."""
        return sum(p.numel() for p in self.model("meta").parameters())

    @cached_property
    def trainer(self) -> dict[str, Any]:
        """Arguments of Lightning's Trainer. Raises UserError for what cannot be any."""
        if not isinstance(self.config["trainer"], dict):
            raise UserError(
                f"trainer={self.config['trainer']}: must be arguments of a trainer; choose one of "
                "conf/trainer, such as trainer=cpu"
            )
        return dict(self.config["trainer"])

    @property
    def precision(self) -> str:
        """In which numbers the weights are trained, in the words of Lightning."""
        return precision(self.trainer.get("precision"))

    @property
    def dtype(self) -> torch.dtype:
        """Numbers that the weights are kept in."""
        return DTYPES[self.precision]

    def trained(self, run: Run) -> GPT:
        """The model with the weights of a run, in float64 or float32: those of bfloat16 are exact
        there. Raises UserError where they are not what training left.
        """
        model = self.model()
        if self.dtype is torch.float64:
            model.double()
        model.load_state_dict(self.weights(run, model))
        return model

    def weights(self, run: Run, model: GPT) -> dict[str, Tensor]:
        """Those of a run of this model, in the numbers they are kept in."""
        return trained_weights(run, model, self.dtype)

    @cached_property
    def run(self) -> Run:
        """Identity: what is trained, on what and how, without the seed; text and tokenizer by their
        content, not by their path.

        An option of the model that is null is left out, so that the GPT may get more of them. The
        machine is no part of it (devices, processes, threads, how often it is logged and
        saved): a run that a GPU trained is evaluated on a laptop. The precision of training is.
        """
        model = {name: value for name, value in self.config["model"].items() if value is not None}
        identity = {"scheme": self.config["scheme"], "model": model}
        train = {name: value for name, value in self.config["train"].items() if name not in UNSEEN}
        about = {"data": describe_data(self.config["data"]), "corpus": self.corpus.sha256}
        return Run(
            self.label, identity | about | {"train": train, "precision": self.precision}, self.seed
        )

    def begin(self) -> GPT:
        return self.model()

    def outline(self) -> GPT:
        return self.model("meta")

    def end(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        return weights


def more_parts(data: Mapping[str, Any], option: str = "data") -> dict[str, Any]:
    """The parts of a mixture beside text and retrieval. Raises UserError for what are none."""
    more = data.get("more")
    if not isinstance(more, Mapping | None) or not all(isinstance(n, str) for n in more or {}):
        raise UserError(f"{option}.more={shown(more)}: expected Part by name or null")
    return dict(more or {})


def describe_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """A mixture as an identity holds it: without the place of its text and of its tokenizer. The
    order of `more` seeds the draws of its parts: where it is not the usual one, it is named.
    """
    kept = {
        name: value
        for name, value in data.items()
        if name != "corpus" and (name, value) != ("more", None)
    }
    own = data.get("vocabulary") or {}
    vocabulary = {name: value for name, value in own.items() if name != "tokenizer"}
    names = list(more_parts(data))
    order = {} if names == _usual_order(frozenset(names)) else {"order": names}
    return kept | {"vocabulary": vocabulary} | order


@cache
def _usual_order(names: frozenset[str]) -> list[str]:
    """That of conf/data where a mixture of these parts stands there, else that of the alphabet."""
    for path in sorted(Path(conf_dir(), "data").glob("*.yaml")):
        listed = list((read_yaml(path) or {}).get("more") or {})
        if listed and names == {*listed}:
            return listed
    return sorted(names)


def shape_of(options: Mapping[str, Any], length: int, vocab: int) -> Shape:
    """What a scheme is built for in a model of these options; older run folders lack the later
    ones.
    """
    return Shape(
        options["dim"],
        options["heads"],
        options["layers"],
        length,
        vocab,
        options["norm"],
        options.get("kv_heads"),
        options.get("head_dim"),
    )
