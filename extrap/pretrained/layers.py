"""The use of positions in the attention of each layer of a transformers model, found by probing a
copy of the model without its weights.

The copy reads a few tokens three times, with no output of attention, so that nothing but the
rotation differs: as rotary modules turn nothing, turn by a quarter, and turn each column by
an angle of its own. A channel that becomes minus another one is the first of a pair; its angle says
which column turns it.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import chain
from math import pi
from typing import Any

import torch
from torch import Tensor, nn

from extrap.pretrained.layer import CLOSE, TOKENS, Layer, Source, Unreadable, turns_of
from extrap.pretrained.seam import replaced, through, turned
from extrap.pretrained.skeleton import bare, copy_of

FIRST, STEP = 0.1, 1e-4
"""Angles of tags, in radians."""


READ = ("scaling", "softcap", "s_aux", "position_bias")
"""Arguments of attention in transformers that extrap reads."""
IDLE = ("dropout", "sliding_window", "position_ids", "cache_position", "is_causal", "use_cache")
IDLE += ("output_attentions", "output_hidden_states", "output_router_logits", "return_dict")
"""Arguments that change nothing here: the mask says the same, or they are of caches and reports."""


Seen = dict[nn.Module, tuple[Tensor, tuple[int, int], Any, dict[str, Any]]]
"""Attention modules in one reading: queries and keys (N, D), their heads, mask, other arguments."""


@torch.no_grad()
def read(net: nn.Module, length: int) -> tuple[list[Layer], str, type]:
    """Returns the layers whose attention comes through the interface, in order; the name of the
    decoder below the head, and the class of its output. Raises Unreadable.
    """
    copy = copy_of(bare(net))
    tokens = torch.arange(1, TOKENS + 1)[None] % len(net.get_input_embeddings().weight)
    sources, answers, before = _found(copy, tokens)
    names = {module: name for name, module in copy.named_modules()}
    calls = [*chain.from_iterable(sources.values())]
    below = [module for module in answers if module is not copy]
    if not below:
        raise Unreadable("its head is not apart from its layers")
    plain, quarter = (_reading(copy, tokens, sources, angle) for angle in (0.0, pi / 2))
    tagged = _reading(copy, tokens, sources, None)
    doubled = _reading(copy, tokens, sources, 0.0, times=2.0)
    layers = []
    for module, (z, heads, mask, more) in plain.items():
        D = z.shape[-1]
        name = names[module]
        scale = more.get("scaling")
        layer = Layer(name, _block(copy, name), *heads, D, D**-0.5 if scale is None else scale)
        layer.inputs = [names[m] for m in before[module] if m in set(module.modules())]
        layer.cap = more.get("softcap")
        layer.sink = more.get("s_aux") is not None
        if more.get("position_bias") is not None:
            raise Unreadable("adds a bias of its own to the logits")
        if strange := [word for word, x in more.items() if _acts(word, x)]:
            raise Unreadable(f"gives attention an argument that extrap does not read, {strange[0]}")
        if mask is not None:
            layer.window, layer.chunk = _visible(getattr(mask, "rule", None), length)
        _find_pairs(layer, z, quarter[module][0], tagged[module][0], calls)
        layer.louder = _comes_through(layer.pairs.flatten(), z, doubled[module][0])
        layers.append(layer)
    return layers, names[below[-1]], answers[below[-1]]


def _acts(word: str, x: Any) -> bool:
    """True if an argument of attention may change its output in a way that extrap does not know."""
    return x is not None and x is not False and word not in (*READ, *IDLE)


def _found(copy: nn.Module, tokens: Tensor) -> tuple[dict[nn.Module, list[Source]], dict, dict]:
    """Returns the calls of rotary modules, the innermost modules whose output is cosine and sine;
    the modules that return hidden states, with the class of their output, inner ones first; and
    the matrices in front of each attention.
    """
    found: dict[nn.Module, list[Source]] = {}
    answers: dict[nn.Module, type] = {}
    names = {module: name for name, module in copy.named_modules()}
    linears: list[nn.Module] = []
    before: dict[nn.Module, list[nn.Module]] = {}

    def attend(module: nn.Module, q: Tensor, *others: Any) -> Tensor:
        before[module] = [*linears]
        return nothing(module, q, *others)

    def look(module: nn.Module, args: Any, more: Any, out: Any) -> None:
        if isinstance(module, nn.Linear):
            linears.append(module)
        elif hasattr(out, "last_hidden_state"):
            answers[module] = type(out)
        elif turns_of(out) is not None and not (set(module.modules()) - {module}) & set(found):
            found.setdefault(module, []).append(Source(names[module], module, args, more))

    nothing = _nothing({})
    with ExitStack() as hooks, through(copy, attend):
        for m in copy.modules():
            hooks.enter_context(m.register_forward_hook(look, with_kwargs=True))
        copy(input_ids=tokens, use_cache=False)
    return found, answers, before


def _nothing(seen: Seen) -> Callable[..., Tensor]:
    """Returns an attention without output, which keeps its arguments."""

    def attend(module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Any, more: Any) -> Tensor:
        if q.shape[-1] != k.shape[-1] or q.shape[2] != k.shape[2]:
            raise Unreadable("queries and keys of another width or length")
        z = torch.cat([q, k], 1).flatten(0, 2).double()
        seen[module] = z, (q.shape[1], k.shape[1]), mask, more
        return v.new_zeros(q.shape[0], q.shape[2], q.shape[1], v.shape[-1])

    return attend


def _reading(
    copy: nn.Module,
    tokens: Tensor,
    sources: dict[nn.Module, list[Source]],
    angle: float | None,
    times: float = 1.0,
) -> Seen:
    """Reads tokens with every rotation at this angle, or, with None, each column at its tag's;
    cosine and sine times a number.
    """
    seen: Seen = {}

    def rotation(module: nn.Module, forward: Callable[..., Any]) -> Callable[..., Any]:
        calls = iter(sources[module])

        def changed(*args: Any, **more: Any) -> Any:
            out = forward(*args, **more)
            if angle is not None:
                return turned(out, angle, times)
            columns = torch.view_as_real(turns_of(out)).movedim(-1, 0).flatten(0, -2)
            alike = columns.unique(dim=1, return_inverse=True)[1] + tags["next"]
            tags["next"] = int(alike.max()) + 1
            next(calls).tags = alike.tolist()
            return turned(out, FIRST + STEP * alike)

        return changed

    tags = {"next": 0}
    with through(copy, _nothing(seen)), replaced({m: partial(rotation, m) for m in sources}):
        copy(input_ids=tokens, use_cache=False)
    return seen


def _block(copy: nn.Module, name: str) -> str:
    """Returns the layer around an attention module: the nearest member of a list."""
    words = name.split(".")
    for n in range(len(words), 0, -1):
        if isinstance(copy.get_submodule(".".join(words[: n - 1])), nn.ModuleList):
            return ".".join(words[:n])
    return name


def _visible(rule: Callable[..., Any] | None, length: int) -> tuple[int | None, int | None]:
    """Returns window and chunk of a rule of masks. Raises Unreadable for any other rule."""
    if rule is None:
        raise Unreadable("has a mask of its own")

    def row(i: int) -> Tensor:
        zero = torch.tensor(0)
        j = torch.arange(i + 1)
        return torch.as_tensor(rule(zero, zero, torch.tensor(i), j)).expand(len(j))

    last = min(max(16 * length, 2**16), 2**22)
    seen = [int(row(i).sum()) for i in (last, last + 1)]
    window = chunk = None
    if seen[0] == seen[1]:
        window = seen[0]
    elif seen[1] == 1:
        chunk = seen[0]
    elif seen[0] <= last:
        chunk = int(row(last - seen[0]).sum())  # the last token of a chunk sees all of it
    for i in (0, 5, last // 3, last - 1, last):
        j = torch.arange(i + 1)
        expected = (j > i - window) if window else (j // chunk == i // chunk) if chunk else j >= 0
        if not torch.equal(row(i), expected):
            raise Unreadable("has a mask of its own")
    return window, chunk


def _comes_through(turning: Tensor, plain: Tensor, doubled: Tensor) -> bool | None:
    """Returns what twice the cosine and sine do to queries and keys (N, D): True if they double the
    channels that turn and no others, False if they change nothing, else None.
    """
    close = plain.abs().mean() * CLOSE
    same = (doubled - plain).abs().amax(0) <= close
    twice = (doubled - 2 * plain).abs().amax(0) <= close
    if same.all():
        return not len(turning)
    others = torch.ones(plain.shape[-1], dtype=torch.bool)
    others[turning] = False
    return True if twice[turning].all() and same[others].all() else None


def _find_pairs(
    layer: Layer, plain: Tensor, quarter: Tensor, tagged: Tensor, calls: list[Source]
) -> None:
    """Sets pairs, source and columns. Raises Unreadable where a change is no turn of pairs."""
    size = plain.abs().mean() * CLOSE
    moved = ((quarter - plain).abs().amax(0) > size).nonzero()[:, 0].tolist()
    if not moved:
        return
    far = torch.cdist(quarter.T, -plain.T, p=torch.inf)
    pairs = [(x, y) for x in moved if far[x, y := int(far[x].argmin())] < size]
    if sorted(chain.from_iterable(pairs)) != moved:
        raise Unreadable("changes queries and keys otherwise than by turning pairs of channels")
    found = []
    for x, y in pairs:
        both = torch.stack([plain[:, x], -plain[:, y]], 1)
        cos, sin = torch.linalg.lstsq(both, tagged[:, x]).solution
        found.append(round((float(torch.atan2(sin, cos)) - FIRST) / STEP))
    owner = next((call for call in calls if set(found) <= set(call.tags)), None)
    if owner is None:
        raise Unreadable("turns by angles of unknown origin")
    layer.source = owner
    layer.columns = torch.tensor([owner.tags.index(tag) for tag in found])
    order = layer.columns.argsort(stable=True)
    layer.pairs, layer.columns = torch.tensor(pairs)[order], layer.columns[order]
