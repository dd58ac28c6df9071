"""How large a model may be, checked before it is built: a mistyped number is told in a line, no
memory is filled.
"""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from extrap.model.gpt import GPT, check_heads
from extrap.model.scheme import Shape
from extrap.runs.build import check_arguments
from extrap.utils.errors import UserError
from extrap.utils.packed import memory

BYTES = 16  # of a parameter in training: itself, its gradient, two moments, float32


def check_model(options: Any) -> None:
    """Raises UserError for what is no set of options of a GPT: missing, unknown, of another type,
    out of bounds.
    """
    if not isinstance(options, Mapping) or not options:
        raise UserError(
            f"model={options}: must be the options of a model; choose one of conf/model, such as "
            "model=tiny"
        )
    own = {n for n, p in signature(GPT).parameters.items() if p.default is not Parameter.empty}
    if missing := sorted(own - set(options)):
        raise UserError(
            f"model.{missing[0]}: missing; give it, or choose one of conf/model, such as model=tiny"
        )
    check_arguments(GPT, options, "model", ("scheme", "vocab"))
    if options["head_dim"] is None and options["dim"] % options["heads"]:
        raise UserError(f"model.heads={options['heads']}: must divide model.dim={options['dim']}")
    try:
        check_heads(*(options[name] for name in ("dim", "heads", "kv_heads", "head_dim")))
    except ValueError as error:
        raise UserError(f"model.{error}") from None


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


def check_memory(params: int) -> None:
    """Raises UserError for a model that cannot be trained in the memory of this machine."""
    need = BYTES * params
    have = memory()
    if need > have:
        raise UserError(
            f"model: {params:,} parameters need {need / 2**30:,.0f} GiB in training and this "
            f"machine has {have / 2**30:,.0f}; give a smaller model.dim, model.layers or "
            "data.vocabulary"
        )
