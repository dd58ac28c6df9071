"""A decoder of transformers as a model of the bench: its own modules, our positions and kernels."""

from functools import partial
from math import isnan
from typing import Any

import torch
from torch import nn

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.adapted import Adapted
from extrap.pretrained.causal import fault
from extrap.pretrained.compared import difference
from extrap.pretrained.families import BLOOM, GPT2, MPT, OPT
from extrap.pretrained.layer import Unreadable
from extrap.pretrained.plain import Plain, config_of, device_of, length_of, spread
from extrap.pretrained.seam import quiet, reason, transformers
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


def converted(net: Any, length: int) -> GPT | None:
    """Returns a GPT with the weights of a transformers model, which both share; None for a family
    outside READ, a model on several devices, or a variant that a GPT has no form for.
    """
    config = net.config
    empty = device_of(net).type == "meta"
    family = READ.get(config.model_type)
    if family is None or spread(net):
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
    kind = net.config.model_type
    length = length or length_of(net.config)
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
            if isinstance(made, Adapted) and device_of(net).type != "meta" and parts_ways(made):
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
    except Exception as error:  # of whatever class a model of odd sizes raises
        return _far(made, error)
    fault = None
    for some in (partial(of_each_kind, short, made.layers), lambda: short):
        try:
            return _apart(copy_of(some()))
        except Exception as error:  # as above
            fault = error
    return _far(made, fault)


def _apart(copy: Any) -> bool:
    """True if the logits of a copy with short lengths differ past these lengths."""
    tokens = 7 * torch.arange(3 * SHORT)[None] % len(copy.get_input_embeddings().weight)
    own = copy(input_ids=tokens, use_cache=False).logits
    apart = float((Adapted(copy, SHORT)(tokens) - own).abs().max())
    if isnan(apart):
        raise Unreadable("its logits are no numbers")
    return apart > APART * float(own.std())


def _far(made: Adapted, fault: Exception) -> bool:
    """True if logits differ in a text as long as the context of the config. Raises Unreadable for a
    context of more than FAR tokens. fault: why no copy with short lengths was compared.
    """
    n = length_of(made.net.config) or made.scheme.shape.length
    if n > FAR:
        long = f"{n:,} tokens are too many to compare"
        raise Unreadable(f"no copy of it with short lengths runs ({reason(fault):.60}), and {long}")
    return difference(made, made.net, n, whole=True) > 0
