"""A checkpoint that transformers reads: a model whose positions are ours if a probe finds them
(extrap/pretrained/adapter.py), else logits alone.

Tensors come out of safetensors alone; code of a checkpoint is never run, nor are kernels fetched;
extrap rejects a tensor that is missing or left over.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.model.scheme import OutOfRange
from extrap.pretrained.adapter import adapt, length_of, table_rows
from extrap.pretrained.seam import quiet, transformers
from extrap.utils.errors import NotApplicable, UserError


class Plain(nn.Module):
    """Tokens (B, T) -> logits (B, w, vocab) of the last w positions, as a GPT answers.

    net: the model of transformers; why: a probe did not reach its positions. Raises OutOfRange past
    the end of a table of positions.
    """

    def __init__(self, net: Any, length: int, why: UserError):
        super().__init__()
        self.net, self.length, self.why = net, length, why

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        rows = table_rows(self.net)  # a GPU asserts past them, and the process can go no further
        if rows is not None and tokens.shape[1] > rows:
            kind = self.net.config.model_type
            raise OutOfRange(f"{tokens.shape[1]} tokens lie past a table of {kind}")
        logits = self.net(input_ids=tokens, use_cache=False).logits
        return logits if last is None else logits[:, -last:]

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: whoever asks wants to act on positions."""
        problem = f"read for its logits alone ({self.why.problem})"
        raise NotApplicable("model_type", self.net.config.model_type, problem)


class FromTransformers:
    """What transformers makes of a folder. place: for messages.

    Raises UserError for a model_type that it does not know, and a folder that it cannot read.
    """

    def __init__(self, folder: Path, kind: str, place: str):
        self.folder, self.kind, self.place = folder, kind, place

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
        """Tokens of context; None if the config does not say."""
        return length_of(self.config)

    def model(self, length: int, dtype: torch.dtype, empty: bool) -> GPT | Plain:
        """Returns it in evaluation mode; without storage (device meta) if empty."""
        made = self._net(dtype, empty)
        if not empty:
            self._check_causal(made)
        return _adapted(made, length)

    def untrained(self, length: int, layers: int | None) -> GPT | Plain:
        """Returns the architecture with weights as drawn, of its own depth or another."""
        config = deepcopy(self.config)
        own, deep = config.num_hidden_layers, layers or config.num_hidden_layers
        for name, value in vars(config).items():
            if isinstance(value, list) and len(value) == own:  # one entry a layer
                setattr(config, name, [value[n % own] for n in range(deep)])
        config.num_hidden_layers = deep
        with self._one_line():
            made = self._class(config)._from_config(config, dtype=torch.float32)
        return _adapted(made.eval(), length)

    def _class(self, config: Any) -> Any:
        kind = self._auto().AutoModelForCausalLM._model_mapping[type(config)]
        return kind[0] if isinstance(kind, tuple) else kind

    def _net(self, dtype: torch.dtype, empty: bool) -> Any:
        config = self.config
        kind = self._class(config)
        attention = {"attn_implementation": "sdpa" if kind._supports_sdpa else "eager"}
        with self._one_line():
            if empty:
                with torch.device("meta"):
                    return kind._from_config(config, dtype=dtype, **attention).eval()
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
        if (layout := getattr(config, "extrap_layout", "half")) != "half":
            _to_halves(made, layout, config)
        return made.eval()

    @torch.no_grad()
    def _check_causal(self, net: Any) -> None:
        """Raises UserError if a later token changes the logits before it."""
        tokens = torch.arange(8)[None] % self.vocab
        other = tokens.clone()
        other[0, 4:] = self.vocab - 1
        before, after = (net(each, use_cache=False).logits[:, :4] for each in (tokens, other))
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
        try:
            return transformers()
        except ImportError:
            raise UserError(
                self.place,
                problem=f"model_type={self.kind} needs the package transformers",
                remedy="pip install 'extrap[pretrained]'",
            ) from None

    def _unknown(self) -> UserError:
        return UserError(
            self.place,
            problem=f"model_type={self.kind} is not supported",
            remedy="whatever AutoModelForCausalLM of transformers has is",
        )

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Quietly; an error of transformers becomes one line."""
        with quiet():
            try:
                yield
            except Exception as error:  # of whatever class its readers and checks raise
                why = " ".join(str(error).split()) or type(error).__name__
                raise UserError(
                    self.place, problem=f"transformers does not read it ({why:.160})"
                ) from None


def _adapted(net: Any, length: int) -> GPT | Plain:
    try:
        return adapt(net, length)
    except UserError as error:
        return Plain(net, length, error)


def _to_halves(net: Any, layout: Any, config: Any) -> None:
    """Moves the rows of query and key projections of a GGUF file to the layout of transformers."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, module in net.named_modules():
        if (count := heads.get(name.rpartition(".")[2])) is not None:
            for p in module.parameters():
                p.data = relayout(p.data, count, layout, "half")
