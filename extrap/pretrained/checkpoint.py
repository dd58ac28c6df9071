"""A published checkpoint: a folder with config.json and safetensors, a GGUF file, or a name on the
hub. transformers reads its data alone: no pickle, no code, no kernels of the hub.
"""

import hashlib
import os
import re
from collections import ChainMap
from contextlib import AbstractContextManager
from copy import deepcopy
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import torch

from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.pretrained.adapted import Adapted
from extrap.pretrained.adapter import adapted
from extrap.pretrained.causal import fault
from extrap.pretrained.chat import FILES, NAMES
from extrap.pretrained.gguf import unpacked
from extrap.pretrained.loading import load
from extrap.pretrained.plain import Plain, device_of, length_in
from extrap.pretrained.quantised import check_accelerate, check_library
from extrap.pretrained.scaling import scaling_of, unscaled, window_of
from extrap.pretrained.seam import installed, one_line, reason, transformers
from extrap.pretrained.size import as_large_as, check_layers
from extrap.pretrained.vocabulary import OfTokenizer, encoder_of
from extrap.utils.errors import UserError
from extrap.utils.paths import PACKAGE, in_package
from extrap.utils.untrusted import LARGER, fits_memory, read_json

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
BUFFERS = ("masked_bias", "position_ids")
"""Last names of constants that old versions of transformers wrote among the weights."""
MASK = re.compile(r"(^|\.)\w*att\w*\.(bias|causal_mask)$")
"""The name of another one, of the shape (1, 1, n, n): which keys a query sees."""
PICTURES = ("vision_model", "multi_modal_projector")
"""First names of tensors next to a decoder that is the part for text of a model."""
INDEX = "model.safetensors.index.json"
SHARDS = "model-*-of-*.safetensors"


def files(folder: Path) -> list[Path]:
    """Returns the files of weights that transformers reads in a folder: model.safetensors, or the
    shards that an index names. Raises UserError without any, for a broken index, and for a file
    that is missing, no file or damaged.
    """
    found = folder / "model.safetensors"
    index = folder / INDEX
    names = [found.name]
    if not os.path.lexists(found) and index.is_file():
        try:
            names = sorted({str(name) for name in read_json(index, 2**26)["weight_map"].values()})
        except (OSError, KeyError, AttributeError, UserError):
            problem = "not an index of shards"
            raise UserError(index, problem=problem, remedy="fetch it again") from None
        if lost := [n for n in names if Path(n).name != n or not os.path.lexists(folder / n)]:
            raise UserError(folder, problem=f"{lost[0]}, which {INDEX} names, is not in it")
    elif not os.path.lexists(found):
        if shard := min((path.name for path in folder.glob(SHARDS)), default=None):
            problem = f"holds {shard}, shards without {INDEX}"
            raise UserError(folder, problem=problem, remedy="fetch it as well")
        pickles = chain.from_iterable(map(folder.glob, PICKLES))
        if first := min((path.name for path in pickles), default=None):
            problem = f"holds {first}, a pickle, which runs code when it is read"
            raise UserError(folder, problem=problem, remedy="convert it to safetensors")
        raise UserError(folder, problem=f"holds no {found.name}, so no weights")
    for name in names:
        header(folder / name)
    return [folder / name for name in names]


def header(path: Path) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of the tensors in a file of weights. Raises UserError if damaged."""
    with installed(path):
        from safetensors import SafetensorError, safe_open
    if not path.is_file():  # a pipe would be read for ever
        raise UserError(path, problem="not a file", remedy="fetch the checkpoint again")
    try:
        if not fits_memory(path):
            raise UserError(path, problem=LARGER)
        with safe_open(path, framework="pt") as found:
            names = list(found.keys())
            return {name: tuple(found.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError) as error:
        raise UserError(path, problem=f"cut short or damaged ({str(error)[:80]})") from None


class Checkpoint:
    """The folder of a checkpoint, its config, and the GPT that it becomes.

    Args:
        place: a folder, a .gguf file, package:NAME/FILE of an installed package, or owner/name of
            the hub
        cache: where a GGUF is unpacked once
        scaling: `chain` keeps the scaling of rotations that the config brings, `replace` takes it
            away
        device_map: `auto` lays layers out on all devices, the memory of the machine and its disk
        weights: False for a place that gives its tokenizer alone, whose weights nobody reads
        option: that names the place, for messages

    Raises UserError, in one line, for a place that is missing or unreadable.
    """

    def __init__(
        self,
        place: str,
        cache: Path = Path("runs/.pretrained"),
        scaling: Literal["chain", "replace"] = "chain",
        device_map: Literal["auto"] | None = None,
        weights: bool = True,
        option: str = "model.checkpoint",
    ):
        self.place, self.scaling, self.device_map = place, scaling, device_map
        self.weights = weights
        # a reader may change the working folder
        self.folder = _folder(place, cache, weights, option).absolute()

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The entries of config.json."""
        try:
            return read_json(self.folder / "config.json")
        except FileNotFoundError:
            problem = "holds no config.json, so it is no checkpoint"
            files = list(self.folder.glob("*.gguf"))
            remedy = "give one of its .gguf files" if files else ""
            if len(files) == 1:
                remedy = f"give {Path(self.place) / files[0].name}"
            raise UserError(self.place, problem=problem, remedy=remedy) from None

    @cached_property
    def config(self) -> Any:
        """The config of the model. Raises UserError for scaling=replace without a scaling."""
        if self.scaling == "chain":
            return self.given
        if scaling_of(self.given) is None:
            problem = "the config of this checkpoint scales no rotation"
            raise UserError("model.scaling", "replace", problem, "leave it out")
        return unscaled(self.given)

    @cached_property
    def given(self) -> Any:
        """The config as transformers reads it. Raises UserError for one that is no decoder's."""
        kind = self.settings.get("model_type")
        auto = self._package()
        if (self.folder / "adapter_config.json").exists():
            problem = "holds adapter_config.json, an adapter"
            raise UserError(self.place, problem=problem, remedy="merge the adapter into the model")
        if self.weights:
            check_library(self.settings, self.place)
        if isinstance(kind, str) and kind in auto.CONFIG_MAPPING:
            check_layers(self.settings, self.place)
            with one_line(self.place):
                found = load(auto.AutoConfig, [self.folder / "config.json"])
            if type(found) in auto.AutoModelForCausalLM._model_mapping:
                return found
        problem = f"model_type={kind} is not supported"
        remedy = "whatever AutoModelForCausalLM of transformers has is"
        raise UserError(self.place, problem=problem, remedy=remedy)

    @property
    def tokens(self) -> tuple[Any, ...]:
        """What may name special tokens, the likeliest first: config.json; as transformers reads it,
        with the defaults of its family, the part that is the decoder's; tokenizer_config.json.
        """
        tokenizer = OfTokenizer(self.folder)
        try:
            return self.settings, self.given.get_text_config(), tokenizer
        except UserError:  # a folder for its tokenizer alone
            return self.settings, tokenizer

    @property
    def vocab(self) -> int:
        """The rows of its embedding, as far as a folder without weights says them."""
        size = getattr(self._text, "vocab_size", None)
        return size if isinstance(size, int) else encoder_of(self.folder).ids

    @cached_property
    def _text(self) -> Any:
        """The config of the decoder; without weights, where transformers does not read it, the
        entries of config.json.
        """
        try:
            return self.config.get_text_config()
        except UserError:
            if self.weights:
                raise
        own = self.settings.get("text_config")
        return SimpleNamespace(**(own if isinstance(own, dict) else self.settings))

    def length(self, length: int | None = None) -> int:
        """Returns the context of its training, in tokens. Raises UserError if nobody gives it."""
        own = length_in(self._text) if self.scaling == "chain" else window_of(self.given)
        if not (found := length or own):
            problem = "does not say for which context it was trained"
            raise UserError(self.place, problem=problem, remedy="give model.train_length")
        return found

    def model(
        self,
        length: int | None = None,
        dtype: Literal["fp32", "bf16"] = "fp32",
        empty: bool = False,
    ) -> GPT | Plain:
        """Returns the model for evaluation, without storage if empty; a Plain: logits alone."""
        files(self.folder)  # rejects damaged weights and pickles with a message of its own
        return adapted(self._net(DTYPES[dtype], empty), self.length(length))

    def untrained(self, length: int | None = None, layers: int | None = None) -> GPT | Plain:
        """Returns the architecture with weights as drawn, of its own depth or another. Raises
        UserError for a depth that its class does not build.
        """
        with one_line(self.place):  # some families have no number of layers
            kind, config = self._class(deepcopy(self.config))
            text = config.get_text_config()
            own = text.num_hidden_layers
            deep = layers or own
            for name, value in vars(text).items():
                if isinstance(value, list) and len(value) == own:  # one entry a layer
                    setattr(text, name, [value[n % own] for n in range(deep)])
            text.num_hidden_layers = deep
            with self._bounded(), torch.random.fork_rng(devices=[]), torch.device("meta"):
                kind._from_config(config, dtype=torch.float32)
            made = kind._from_config(config, dtype=torch.float32)
        model = adapted(made.eval(), self.length(length))
        if layers is not None and isinstance(model, Adapted) and len(model.every) != layers:
            problem = f"with num_hidden_layers={layers} it has {len(model.every)} layers"
            raise UserError(self.place, problem=problem, remedy="leave its depth as it is")
        return model

    @cached_property
    def sha256(self) -> str:
        """The hash of config.json and the weights, which names a run on this checkpoint."""
        _ = self.settings  # rejects a damaged config.json
        found = hashlib.sha256()
        for path in (self.folder / "config.json", *files(self.folder)):
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
        return found.hexdigest()

    def _bounded(self) -> AbstractContextManager[None]:
        weights = files(self.folder)
        return as_large_as(weights, sum(len(header(path)) for path in weights), self.place)

    def _class(self, config: Any) -> tuple[Any, Any]:
        """Returns the class of the decoder and the config that it takes: of a model that reads
        pictures as well the part for text, if the class is of this part alone.
        """
        kind = self._package().AutoModelForCausalLM._model_mapping[type(config)]
        kind = kind[0] if isinstance(kind, tuple) else kind
        part = config.sub_configs.get("text_config")
        if part is None or kind.config_class is not part:
            return kind, config
        text = config.get_text_config()
        bits = getattr(config, "quantization_config", None)
        if bits is not None:
            text.quantization_config = bits
        return kind, text

    def _net(self, dtype: torch.dtype, empty: bool) -> Any:
        kind, config = self._class(self.config)
        given = {"attn_implementation": "sdpa" if kind._supports_sdpa else "eager"}
        if empty:
            with self._bounded(), one_line(self.place), torch.device("meta"):
                return kind._from_config(config, dtype=dtype, **given).eval()
        index = [path] if (path := self.folder / INDEX).is_file() else []
        data = [self.folder / "config.json", *index, *files(self.folder)]
        layout = getattr(config, "extrap_layout", "half")  # of a GGUF file that extrap unpacked
        if self.device_map is not None:
            check_accelerate(self.device_map)
            if layout != "half":  # weights that stay on the disk cannot be moved
                problem = f"{self.place} is a GGUF file whose rows extrap moves in memory"
                remedy = "give a folder of safetensors, or leave device_map out"
                raise UserError("model.device_map", self.device_map, problem, remedy)
            given["device_map"] = self.device_map
        with self._bounded(), one_line(self.place):
            made, found = load(
                kind,
                data,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                output_loading_info=True,
                **given,
            )
        for what in ("missing", "mismatched", "unexpected"):
            every = sorted(str(name) for name in found[f"{what}_keys"])
            names = [name for name in every if name.split(".")[-1] not in BUFFERS]
            if what == "unexpected" and any(map(MASK.search, names)):
                shapes = ChainMap(*(header(path) for path in files(self.folder)))
                names = [name for name in names if not _is_mask(name, shapes.get(name, ()))]
            if what == "unexpected" and config is not self.config:
                names = [name for name in names if name.split(".")[0] not in PICTURES]
            if names:
                problem = f"{len(names)} {what} tensors: {', '.join(names[:3])}"
                raise UserError(self.place, problem=problem)
        if layout != "half":
            if layout != "interleaved":
                problem = "expected half or interleaved"
                raise UserError(f"extrap_layout={layout!s:.40}", problem=problem)
            _to_halves(made, layout, config)
        made.eval()
        if found := fault(lambda ids, last: made(ids, use_cache=False).logits, device_of(made)):
            problem = f"model_type={config.model_type} {found.problem}"
            raise UserError(self.place, problem=problem, remedy=found.remedy)
        return made

    def _package(self) -> Any:
        with installed(self.place):
            return transformers()


def _is_mask(name: str, shape: tuple[int, ...]) -> bool:
    """True for a constant of old versions of transformers: the mask of an attention module."""
    n = shape[-1:]
    return MASK.search(name) is not None and shape == (1, 1, *n, *n)


def _to_halves(net: Any, layout: Any, config: Any) -> None:
    """Moves the rows of query and key projections of a GGUF file to the layout of transformers."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, module in net.named_modules():
        if (count := heads.get(name.rpartition(".")[2])) is not None:
            for p in module.parameters():
                p.data = relayout(p.data, count, layout, "half")


def _folder(place: str, cache: Path, weights: bool, option: str) -> Path:
    path = in_package(place) if place.startswith(PACKAGE) else Path(place).expanduser()
    if path.is_dir():
        return path
    if path.is_file() and path.suffix == ".gguf":
        return unpacked(path, cache, weights)
    if path.is_file():
        problem = "neither a folder nor a .gguf file"
        raise UserError(option, place, problem, "give one of them")
    if path.suffix == ".gguf" or not NAME.fullmatch(place):
        files = "config.json and *.safetensors" if weights else "tokenizer.json"
        remedy = f"give a folder of {files}, a .gguf file, or owner/name"
        raise UserError(option, place, "no such folder or file", remedy)
    return _from_hub(place, weights)


def _from_hub(name: str, weights: bool) -> Path:
    with installed(name):
        from huggingface_hub import snapshot_download
    kinds = ["config.json", "tokenizer.json", *FILES, NAMES]
    if weights:
        kinds += ["*.safetensors", "*.safetensors.index.json"]
    try:
        found = snapshot_download(
            name,
            allow_patterns=kinds,
            ignore_patterns=["*/*", "consolidated*"],  # the weights once more, in another form
            etag_timeout=10,
        )
    except Exception as error:  # which one depends on the HTTP library below huggingface_hub
        problem = f"the hub does not give it ({reason(error):.100})"
        raise UserError(name, problem=problem, remedy="without network give a folder") from None
    return Path(found)
