"""The parts of a scheme: one walk through stacks, layers and wrappers."""

from extrap.model.scheme import Scheme


def parts(scheme: Scheme, layer: int | None = None) -> list[Scheme]:
    """Returns the parts of a scheme that act in one layer, or anywhere."""
    inner = [] if scheme.sealed else scheme.inner(layer)
    return [part for one in inner for part in parts(one, layer)] or [scheme]


def has(scheme: Scheme, flag: str, layer: int | None = None) -> bool:
    """True if some part of a scheme, sealed ones included, sets a flag of the class."""
    return getattr(scheme, flag) or any(has(one, flag, layer) for one in scheme.inner(layer))


def check_causal(scheme: Scheme, layer: int | None = None) -> None:
    """Raises ValueError if a part has no form without the causal mask."""
    if found := [p for p in parts(scheme, layer) if p.causal_only]:
        raise ValueError(f"{type(found[0]).__name__} has no form without the causal mask")
