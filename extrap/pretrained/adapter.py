"""A decoder of transformers as a model of the bench: its own modules, our positions and kernels."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from extrap.model.attention import attention
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Scheme, Shape, Where
from extrap.pretrained.causal import fault
from extrap.pretrained.compared import difference
from extrap.pretrained.families import BLOOM, GPT2, MPT, OPT
from extrap.pretrained.layer import Unreadable
from extrap.pretrained.layers import read
from extrap.pretrained.plain import ALLOWED, Plain, config_of, device_of, length_of, table_rows
from extrap.pretrained.rotation import GivenSink, scheme_of
from extrap.pretrained.seam import forgetting, quiet, reason, replaced, still, through, transformers
from extrap.pretrained.shortened import SHORT, of_each_kind, shortened
from extrap.pretrained.skeleton import copy_of
from extrap.utils.errors import UserError

APART = 0.01
"""Difference of logits, in standard deviations, that is no rounding."""
FAR = 4096
"""Tokens of the longest text in which logits are compared."""
PAST = "past a window, a top-k or another length of its config"
READ = {family.model_type: family for family in (BLOOM(), MPT(), GPT2(), OPT())}
"""By model_type: families that become a GPT of ours."""


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

    def matrices(self) -> dict[str, nn.Module]:
        """Returns the matrices of the layers whose attention is ours. The last word of a name is
        its role in a GPT: qkv and out around attention, gate, up and down outside.
        """
        found = {"embedding": self.embedding}
        width = self.embedding.weight.shape[1]
        for layer in self.layers:
            for name, m in self.net.get_submodule(layer.block).named_modules(prefix=layer.block):
                if not isinstance(m, nn.Linear):
                    continue
                inner = name.removeprefix(layer.name)
                word = "qkv" if name in layer.inputs else "out" if inner != name else ""
                last = name.rpartition(".")[2]
                word = word or ("up" if "up" in last else "gate" if "gate" in last else "")
                found[f"{name}.{word or ('down' if m.out_features == width else 'up')}"] = m
        return found if self.head is None else found | {"head": self.head}

    def hidden(
        self, tokens: Tensor, states: list[Tensor] | None = None, last: int | None = None
    ) -> Tensor:
        """As a GPT; `states` stays empty. Raises OutOfRange past a table of the model's own, and
        where the model fails past L.
        """
        with self._ours(self.where(tokens)):
            decoder = self.net.get_submodule(self.decoder)
            try:
                hidden = decoder(input_ids=tokens, use_cache=False).last_hidden_state
            except ALLOWED:
                raise
            except Exception as error:  # of whatever class the code of a model raises
                T, said = tokens.shape[1], str(error)
                table = "out of range" in said or "out of bounds" in said
                if not table and self.scheme.shape.length >= T:
                    raise
                raise OutOfRange(f"{T} tokens lie past a table ({said})") from None
        return hidden if last is None else hidden[:, -last:]

    def endings(self, texts: Tensor, last: int) -> Tensor:
        """As a GPT, each text read whole: no state of a layer of `net` is kept."""
        return torch.stack([self(text, last=last) for text in texts])

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
    def _ours(self, at: Where) -> Iterator[None]:
        """Puts our attention and positions in place of the model's, within."""
        module = self.net.get_submodule
        number = {module(layer.name): n for n, layer in enumerate(self.layers)}
        inputs: dict[int, Tensor] = {}
        usual = self.scheme.shape.head_dim**-0.5

        def attend(m: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Any, more: Any) -> Tensor:
            n, D = number[m], v.shape[-1]
            s = self.layers[n].scale
            if (sink := more.get("s_aux")) is not None:
                at.memo[GivenSink, n] = sink
            q = q if s == usual else q * (s / usual)
            v = F.pad(v, (0, max(0, q.shape[-1] - D)))  # fused kernels want one width
            o = attention(self.scheme, q, k, v, at.at_layer(n, inputs[n]))
            return o[..., :D].transpose(1, 2).contiguous()

        def normed(n: int, x: Tensor) -> Tensor:
            inputs.clear()  # later layers need room
            inputs[n] = x
            return x

        def embedded(n: int, x: Tensor) -> Tensor:
            return self.scheme.embed(x, at.at_layer(n, x))

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
                    hooks.enter_context(_on_input(module(layer.block), n, embedded))
            yield

    def _again(self, at: Where, forward: Any) -> Any:
        """Returns a forward that the backward computes again: memory holds its input alone."""

        def contexts() -> tuple[Any, Any]:
            return nullcontext(), self._ours(at)

        return partial(checkpoint, forward, use_reentrant=False, context_fn=contexts)


def _on_input(module: nn.Module, n: int, change: Any) -> Any:
    """Hooks a function of (n, hidden states) before a module."""

    def before(m: nn.Module, args: Any, more: Any) -> Any:
        if args:
            return (change(n, args[0]), *args[1:]), more
        return args, more | {"hidden_states": change(n, more["hidden_states"])}

    return module.register_forward_pre_hook(before, with_kwargs=True)


def converted(net: Any, length: int) -> GPT | None:
    """Returns a GPT with the weights of a transformers model, which both share; None for a family
    outside READ, or a variant that a GPT has no form for.
    """
    config, empty = net.config, net.device.type == "meta"
    family = READ.get(config.model_type)
    if family is None:
        return None
    tied = net.get_output_embeddings().weight is net.get_input_embeddings().weight
    try:
        options = Decoder(head="shared" if tied else "untied", **family.options(config))
        rows = config.vocab_size
        shape = Shape(options.dim, options.heads, options.layers, length, rows, "layer")
        with torch.device("meta"):
            made = GPT(Scheme(shape), rows, options)
        made.scheme = family.scheme(shape, config)
        for block in made.blocks:
            block.clip = family.clip(config)
        if empty:
            made.scheme = made.scheme.to("meta")
            return made.eval()
        weights = family.read(net.state_dict(), config)
        made.load_state_dict({n: t for n, t in weights.items() if made.head or n != "head.weight"},
                             assign=True)  # fmt: skip
    except (KeyError, ValueError, RuntimeError):
        return None
    return made.requires_grad_(True).train(net.training)


def adapted(net: Any, length: int) -> GPT | Plain:
    """Returns adapt(net, length), or a Plain if no probe reaches the positions of the model."""
    try:
        return adapt(net, length)
    except UserError as error:
        return Plain(net, length, error.problem)


def of_variable(subject: Any, length: int) -> nn.Module:
    """Returns the model of the bench; length: L in tokens. Raises UserError for a callable that
    returns no logits, or other logits for the same ids, and for a model that looks ahead.
    """
    if isinstance(subject, GPT):
        return subject
    model = Plain(subject, length)
    if found := fault(model, device_of(subject)):
        raise UserError("model", model.name, *found)
    return model if config_of(subject) is None else adapted(subject, length)


def adapt(net: Any, length: int | None = None) -> GPT:
    """Returns a model of the bench around a decoder of transformers, which stays as it is: a GPT
    for a family of READ, else an Adapted.

    length: L in tokens; None takes the config's. Raises UserError where no layer's attention
    can be reached, or where the logits differ from the model's.
    """
    transformers()
    kind, length = net.config.model_type, length or length_of(net.config)
    if length is None:
        problem = "does not say for which context it was trained"
        raise UserError("model_type", kind, problem, "give model.train_length")
    try:
        with quiet():
            made = converted(net, length)
            if made is None or difference(made, net, length):
                made = Adapted(net, length).train(net.training)
            if off := difference(made, net, length):
                raise Unreadable(f"its logits differ by {off:.1e} with attention of extrap")
            if isinstance(made, Adapted) and not net.device.type == "meta" and parts_ways(made):
                raise Unreadable(f"{PAST} its logits differ with attention of extrap")
    except Unreadable as error:
        raise UserError("model_type", kind, str(error)) from None
    except Exception as error:  # of whatever class the code of a model raises
        raise UserError("model_type", kind, f"a probe fails ({reason(error):.100})") from error
    return made


@torch.no_grad()
def parts_ways(made: Adapted) -> bool:
    """True if logits differ past a length of the config, in a copy where every length is short.
    The copy has one layer of each kind, or all if it does not run so. If no copy runs, the model
    itself reads past its context. False if the config has no length. Raises Unreadable if nothing
    can be compared.
    """
    try:
        if (short := shortened(made.net, made.layers)) is None:
            return False
    except Exception:  # of whatever class a model of odd sizes raises
        return _far(made)
    for some in (partial(of_each_kind, short, made.layers), lambda: short):
        try:
            copy = copy_of(some())
            tokens = 7 * torch.arange(3 * SHORT)[None] % len(copy.get_input_embeddings().weight)
            own = copy(input_ids=tokens, use_cache=False).logits
            apart = Adapted(copy, SHORT)(tokens) - own
            return float(apart.abs().max()) > APART * float(own.std())
        except Exception:  # as above
            continue
    return _far(made)


def _far(made: Adapted) -> bool:
    """True if logits differ in a text as long as the context of the config. Raises Unreadable for a
    context of more than FAR tokens.
    """
    n = length_of(made.net.config) or made.scheme.shape.length
    if n > FAR:
        words = "no copy of it with short lengths runs, and {:,} tokens are too many to compare"
        raise Unreadable(words.format(n))
    return difference(made, made.net, n, whole=True) > 0
