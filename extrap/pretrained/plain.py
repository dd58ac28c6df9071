"""A checkpoint of a family that has no file of its own here, read by transformers: logits, and
nothing else.

Nobody knows of such a model where positions enter, so that extensions and diagnostics are refused
by name. Tensors come out of safetensors alone; code of a checkpoint is never run, nor are kernels
fetched; a tensor that is missing or left over is refused.
"""

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from extrap.model.scheme import OutOfRange
from extrap.utils.errors import NotApplicable, UserError

LENGTHS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "n_ctx")
"""Where a config says the context that a model was trained for."""


class Plain(nn.Module):
    """Tokens (B, T) -> logits (B, w, vocab) of the last w positions, as a GPT answers.

    net: the model of transformers; kind: its model_type; length: L in tokens. Raises OutOfRange
    past the end of a table of positions.
    """

    def __init__(self, net: nn.Module, kind: str, length: int):
        super().__init__()
        self.net = net
        self.kind = kind
        self.length = length
        self.cuts = "logits_to_keep" in inspect.signature(net.forward).parameters

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        fewer = {"logits_to_keep": last} if self.cuts and last is not None else {}
        past = f"{tokens.shape[1]} tokens lie past a table of {self.kind}"
        if tokens.device.type != "cpu" and tokens.shape[1] > self.length and self._has_table():
            raise OutOfRange(past)  # a GPU asserts, after which the process can do nothing on it
        try:
            logits = self.net(input_ids=tokens, use_cache=False, **fewer).logits
        except IndexError as error:
            if tokens.shape[1] <= self.length:
                raise
            raise OutOfRange(past) from error
        return logits if last is None else logits[:, -last:]

    def _has_table(self) -> bool:
        """Whether some table beside that of words has a row for each position, and two at most that
        some families leave before them.
        """
        words = self.net.get_input_embeddings()
        tables = (m for m in self.net.modules() if isinstance(m, nn.Embedding) and m is not words)
        return any(self.length <= table.num_embeddings <= self.length + 2 for table in tables)

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: whoever asks wants to act on positions."""
        problem = "read through transformers, which gives logits alone"
        raise NotApplicable("model_type", self.kind, problem)


class PlainCheckpoint:
    """What transformers makes of a folder. place: for messages.

    Raises UserError where it does not know the model_type, or cannot read the folder.
    """

    def __init__(self, folder: Path, kind: str, place: str, known: str):
        self.folder = folder
        self.kind = kind
        self.place = place
        self.known = known

    @property
    def config(self) -> Any:
        auto = self._auto()
        if self.kind not in auto.CONFIG_MAPPING:
            raise self._unknown()
        with self._one_line():
            found = auto.AutoConfig.from_pretrained(
                str(self.folder), trust_remote_code=False, local_files_only=True
            )
        if type(found) not in auto.AutoModelForCausalLM._model_mapping:
            raise self._unknown()
        return found

    @property
    def vocab(self) -> int:
        return self.config.get_text_config().vocab_size

    @property
    def length(self) -> int | None:
        """Tokens of context, where the config says."""
        own = self.config.get_text_config()
        found = (getattr(own, name, None) for name in LENGTHS)
        return next((n for n in found if isinstance(n, int)), None)

    def model(self, length: int, dtype: torch.dtype, empty: bool) -> Plain:
        """In evaluation mode; without storage (device meta) if empty."""
        auto, config = self._auto(), self.config
        kind = auto.AutoModelForCausalLM._model_mapping[type(config)]
        kind = kind[0] if isinstance(kind, tuple) else kind
        attention = {"attn_implementation": "sdpa" if kind._supports_sdpa else "eager"}
        with self._one_line():
            if empty:
                with torch.device("meta"):
                    made = kind._from_config(config, dtype=dtype, **attention)
                return Plain(made.eval(), self.kind, length)
            made, found = kind.from_pretrained(
                str(self.folder),
                config=config,
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
                **attention,
            )
        for what in ("missing_keys", "mismatched_keys", "unexpected_keys"):
            if names := sorted(str(name) for name in found[what]):
                raise UserError(
                    self.place,
                    problem=f"{len(names)} {what.split('_')[0]} tensors: {', '.join(names[:3])}",
                )
        whole = Plain(made.eval(), self.kind, length)
        self._check_causal(whole)
        return whole

    @torch.no_grad()
    def _check_causal(self, model: Plain) -> None:
        """Raises UserError where a later token changes what is said before it."""
        tokens = torch.arange(8)[None] % self.vocab
        other = tokens.clone()
        other[0, 4:] = self.vocab - 1
        before, after = (model(each)[:, :4] for each in (tokens, other))
        round_off = torch.finfo(before.dtype).eps ** 0.5
        if (before - after).abs().max() > round_off * before.std():
            raise UserError(
                self.place,
                problem=(
                    f"model_type={self.kind} sees later tokens, so its losses are not those of a "
                    "language model"
                ),
                remedy="give the checkpoint of a causal model",
            )

    def _auto(self) -> Any:
        os.environ.setdefault("USE_HUB_KERNELS", "0")  # read by transformers as it is imported
        try:
            import transformers
        except ImportError:
            raise UserError(
                self.place,
                problem=f"model_type={self.kind} needs the package transformers",
                remedy=f"pip install 'extrap[pretrained]'; without it {self.known} are read",
            ) from None
        return transformers

    def _unknown(self) -> UserError:
        return UserError(
            self.place,
            problem=f"model_type={self.kind} is not supported",
            remedy=f"{self.known} are, and whatever AutoModelForCausalLM of transformers has",
        )

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Without reports and bars of transformers; what it raises becomes one line."""
        from transformers.utils import logging

        before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        except Exception as error:  # of whatever class its readers and checks raise
            why = " ".join(str(error).split()) or type(error).__name__
            raise UserError(
                self.place, problem=f"transformers does not read it ({why:.160})"
            ) from None
        finally:
            logging.set_verbosity(before)
            if bars:
                logging.enable_progress_bar()
