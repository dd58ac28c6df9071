"""The model of the bench around a decoder of transformers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from itertools import chain
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from extrap.model.attention import attention
from extrap.model.block import embedded as placed
from extrap.model.fitting import full
from extrap.model.gpt import GPT
from extrap.model.past import Past
from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.model.steady import joined
from extrap.pretrained.layer import Layer, Unreadable
from extrap.pretrained.layers import read
from extrap.pretrained.plain import ALLOWED, device_of, table_rows
from extrap.pretrained.rotation import GivenSink, scheme_of
from extrap.pretrained.seam import Before, forgetting, replaced, still, through
from extrap.utils.errors import UserError

KNOWN, CLOSE = 16, 1e-3
"""Tokens of the first part of a text, and the difference of logits, in standard deviations, that
is rounding.
"""


class Adapted(GPT):
    """Tokens (B, T) -> logits (B, T, vocab). `net` has norms, projections, MLPs and head,
    which stays as it is; rotation, masks and attention are ours.

    layers: the layers with our attention, as many as the scheme has.
    """

    def __init__(self, net: Any, length: int):
        nn.Module.__init__(self)
        self.layers, self.decoder, self.answer = read(net, length)
        if not self.layers:
            raise Unreadable("no attention comes through the interface of transformers")
        self.net = net
        self.recomputed = False
        first = max(self.layers, key=lambda layer: (layer.width, layer.heads))
        rows, C = self.embedding.weight.shape
        sizes = C, first.heads, len(self.layers), length, rows, "rms", first.groups, first.width
        self.scheme = scheme_of(self.layers, Shape(*sizes), table_rows(net))

    @property
    def embedding(self) -> nn.Module:  # type: ignore[override]
        return self.net.get_input_embeddings()

    @property
    def head(self) -> nn.Module | None:  # type: ignore[override]
        return self.net.get_output_embeddings()

    @property
    def blocks(self) -> nn.ModuleList:  # type: ignore[override]
        """The layers whose attention is ours."""
        return nn.ModuleList(self.net.get_submodule(layer.block) for layer in self.layers)

    @property
    def every(self) -> list[str]:
        """The names of all layers, in order: of the lists that hold a layer whose attention is
        ours. The others have no attention, or one that is not reached.
        """
        found: dict[str, list[str]] = {}
        for layer in self.layers:
            stem = layer.block.rpartition(".")[0]
            list_of = self.net.get_submodule(stem)
            if isinstance(list_of, nn.ModuleList):
                found[stem] = [f"{stem}.{n}" for n in range(len(list_of))]
            else:
                found[layer.block] = [layer.block]
        return [*chain.from_iterable(found.values())]

    def matrices(self) -> dict[str, nn.Module]:
        """Returns the matrices of the layers whose attention is ours. The last word of a name is
        its role in a GPT: qkv and out around attention, gate, up and down outside.
        """
        found = {"embedding": self.embedding}
        width = self.embedding.weight.shape[1]
        for layer in self.layers:
            block = self.net.get_submodule(layer.block)
            for name, module in block.named_modules(prefix=layer.block):
                if isinstance(module, nn.Linear):
                    found[f"{name}.{_role(name, layer, module.out_features == width)}"] = module
        return found if self.head is None else found | {"head": self.head}

    def hidden(self, tokens, states=None, last=None, past=None) -> Tensor:
        """As a GPT; `states` stays empty. Raises OutOfRange past a table of the model's own, where
        the model fails past L, and for a jump of positions that the model does not take.
        """
        known = 0 if past is None else past.length
        places = torch.arange(known, tokens.shape[1], device=tokens.device)[None]
        more = {"position_ids": places, "past_key_values": Before(known)} if known else {}
        if self.left_out is not None and self._adds_positions:
            more["position_ids"] = places + self.left_out[known:].to(places)
        with self._ours(self.where(tokens), past):
            decoder = self.net.get_submodule(self.decoder)
            try:
                answer = decoder(input_ids=tokens[:, known:], use_cache=False, **more)
            except ALLOWED:
                raise
            except Exception as error:  # of whatever class the code of a model raises
                if full(error):
                    raise
                T = tokens.shape[1]
                said = str(error)
                table = "out of range" in said or "out of bounds" in said
                if not table and self.scheme.shape.length >= T:
                    raise
                raise OutOfRange(f"{T} tokens lie past a table ({said})") from None
        hidden = answer.last_hidden_state
        return hidden if last is None else hidden[:, -last:]

    def endings(self, texts: Tensor, last: int) -> Tensor:
        """As a GPT; each text is read whole if a layer of `net` keeps more than keys and values."""
        if self._keeps_all:
            return super().endings(texts, last)
        return torch.stack([self(text, last=last) for text in texts])

    def continues(self, texts: int, known: int, tokens: int, held: int = 0) -> bool:
        return self._keeps_all and super().continues(texts, known, tokens, held)

    def sizes(self) -> list[tuple[int, int, int]]:
        return [(layer.heads, layer.groups, layer.width) for layer in self.layers]

    @cached_property
    @torch.no_grad()
    def _keeps_all(self) -> bool:
        """True if a short text, read in two parts, has the logits of the whole. Recurrent layers
        keep a state that a past does not have.
        """
        tokens = 7 * torch.arange(KNOWN + 8)[None] % len(self.embedding.weight)
        tokens = tokens.to(device_of(self.net))
        past = Past()
        whole = self(tokens, last=8)
        try:
            self.hidden(tokens[:, :KNOWN], last=1, past=past)
            apart = self.further(tokens, 8, past) - whole
        except Exception:  # of whatever class the code of a model raises
            return False
        return bool(apart.abs().max() <= CLOSE * whole.std())

    @cached_property
    @torch.no_grad()
    def _adds_positions(self) -> bool:
        """True if the model adds positions by itself, which it takes as numbers from 0 on. Raises
        OutOfRange if it counts them in another way, so that they cannot jump.
        """
        n = max(1, min(KNOWN, int(min(self.scheme.shape.length, self.scheme.limit)) // 2))
        places = torch.arange(n, device=device_of(self.net))[None]
        tokens = (7 * places + 1) % len(self.embedding.weight)
        left_out, self.left_out = self.left_out, None
        try:
            with self._ours(self.where(tokens)):
                decoder = partial(self.net.get_submodule(self.decoder), tokens, use_cache=False)
                given = {}, {"position_ids": places}, {"position_ids": places + n}
                own, counted, later = (decoder(**one).last_hidden_state for one in given)
        finally:
            self.left_out = left_out
        close = CLOSE * own.std()
        takes = (later - counted).abs().max() > close >= (counted - own).abs().max()
        if not takes and self.scheme.limit < inf:  # it has a table of positions
            raise OutOfRange("positions that the model counts by itself cannot jump")
        return bool(takes)

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., C) -> (..., vocab), by the head of the model."""
        rows = hidden.reshape(1, -1, hidden.shape[-1])

        def answering(forward: Any) -> Any:
            return lambda *args, **more: self.answer(last_hidden_state=rows)

        tokens = torch.zeros(rows.shape[:2], dtype=torch.long, device=hidden.device)
        with replaced({self.net.get_submodule(self.decoder): answering}):
            logits = self.net(input_ids=tokens, use_cache=False).logits
        return logits.view(*hidden.shape[:-1], -1)

    @contextmanager
    def _ours(self, at: Where, past: Past | None = None) -> Iterator[None]:
        """Puts our attention and positions in place of the model's, within; past: of the tokens
        that the model does not get.
        """
        module = self.net.get_submodule
        number = {module(layer.name): n for n, layer in enumerate(self.layers)}
        inputs: dict[int, Tensor] = {}
        usual = self.scheme.shape.head_dim**-0.5
        kind = self.net.config.model_type

        def attend(m: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Any, more: Any) -> Tensor:
            n = number[m]
            D = v.shape[-1]
            s = self.layers[n].scale
            if (sink := more.get("s_aux")) is not None:
                at.memo[GivenSink, n] = sink.to(at.q.device)
            q = q if s == usual else q * (s / usual)
            v = F.pad(v, (0, max(0, q.shape[-1] - D)))  # fused kernels want one width
            # a model on several devices: attention on the one that reads ids
            away = q.device
            home = at.q.device
            x, q, k, v = (each.to(home) for each in (inputs[n], q, k, v))
            new = q.shape[2]
            if past is not None:
                x, q, k, v = joined(past, self.scheme, n, x, q, k, v)
            o = attention(self.scheme, q, k, v, at.at_layer(n, x), at.length - new)
            return o[..., :D].transpose(1, 2).contiguous().to(away)

        def normed(n: int, x: Tensor) -> Tensor:
            inputs.clear()  # later layers need room
            inputs[n] = x
            return x

        def embedded(n: int, x: Tensor) -> Tensor:
            if x.dim() != 3:
                problem = f"layer {n} reads {x.dim()} axes of numbers, the task wants (B, T, C)"
                raise UserError("model_type", kind, problem, "leave the task out")
            return placed(self.scheme, x, at, n)

        changes: dict[nn.Module, Any] = {
            module(layer.source.name): still for layer in self.layers if layer.source is not None
        }
        if self.recomputed:
            changes |= dict.fromkeys(self.blocks, partial(self._again, at))
        with (
            ExitStack() as hooks,
            forgetting(self.net),
            through(self.net, attend),
            replaced(changes),
        ):
            for n, layer in enumerate(self.layers):
                hooks.enter_context(_on_input(module(layer.name), n, normed))
                if self.scheme.uses("embed", layer=n):
                    # the first layers of a hybrid model may have no attention
                    block = layer.block if n else self.every[0]
                    hooks.enter_context(_on_input(module(block), n, embedded))
            yield

    def _again(self, at: Where, forward: Any) -> Any:
        """Returns a forward that the backward computes again: memory holds its input alone."""

        def contexts() -> tuple[Any, Any]:
            return nullcontext(), self._ours(at)

        return partial(checkpoint, forward, use_reentrant=False, context_fn=contexts)


def _role(name: str, layer: Layer, as_wide: bool) -> str:
    """Returns the role of a matrix in a GPT; as_wide: its output is as wide as the embedding."""
    if name in layer.inputs:
        return "qkv"
    if name.startswith(layer.name):
        return "out"
    last = name.rpartition(".")[2]
    if "up" in last:
        return "up"
    if "gate" in last:
        return "gate"
    return "down" if as_wide else "up"


def _on_input(module: nn.Module, n: int, change: Any) -> Any:
    """Hooks a function of (n, hidden states) before a module."""

    def before(m: nn.Module, args: Any, more: Any) -> Any:
        if args:
            return (change(n, args[0]), *args[1:]), more
        return args, more | {"hidden_states": change(n, more["hidden_states"])}

    return module.register_forward_pre_hook(before, with_kwargs=True)
