"""The budget of one configuration: how many files its defaults choose, and how many values and
characters stand in it once its references are written out.

A hundred bytes can stand for more values than any memory holds: eight lists, each of nine
references to the list before it. OmegaConf writes references out one by one, so the budget is spent
where it does; their methods count inside `counted`, and nowhere else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from omegaconf import DictConfig
from omegaconf.base import Container
from omegaconf.basecontainer import BaseContainer

from extrap.utils.errors import UserError
from extrap.utils.untrusted import VALUES

FILES = 600
"""Times that Hydra may look up a file; it looks each default up twice."""

REFERENCES = 2_000
"""References that are written out, one inside another counted each time."""

CHARACTERS = 2**20
"""Of texts that references make."""

BUDGET = {"files": FILES, "references": REFERENCES, "values": VALUES, "characters": CHARACTERS}
SAYS = {
    "files": f"its defaults choose more than {FILES // 2} files",
    "references": f"more than {REFERENCES:,} references to write out",
    "values": f"more than {VALUES:,} values when its references are written out",
    "characters": f"texts of more than {CHARACTERS:,} characters when references are written out",
}


class Spent(BaseException):
    """The name of a budget that is used up. OmegaConf rewrites every Exception on its way."""


_left: list[dict[str, int]] = []
"""What is left of the budget of each configuration that is composed now, the innermost last."""


@contextmanager
def counted() -> Iterator[None]:
    """Raises UserError if what happens inside spends more than one configuration may."""
    _left.append(dict(BUDGET))
    try:
        with _counting():
            yield
    except Spent as error:
        remedy = "give fewer of them"
        raise UserError("configuration", problem=SAYS[str(error)], remedy=remedy) from None
    finally:
        _left.pop()


def _spend(kind: str, amount: int) -> None:
    if _left:
        _left[-1][kind] -= amount
        if _left[-1][kind] < 0:
            raise Spent(kind)


def _nodes(node: Any) -> int:
    """Counts the values in a node, at most as many as the budget has left."""
    waiting, found = [node], 0
    while waiting and found <= VALUES:
        one = waiting.pop()
        found += 1
        inside = one._content if isinstance(one, Container) else None
        if isinstance(inside, dict | list):
            waiting += inside.values() if isinstance(inside, dict) else inside
    return found


_lookup = CachingConfigRepository.load_config
_load = ConfigLoaderImpl._load_configuration_impl
_resolve = Container._resolve_interpolation_from_parse_tree
_content = BaseContainer._to_content


def _counted_lookup(repository: Any, config_path: str) -> Any:
    _spend("files", 1)
    return _lookup(repository, config_path)


def _counted_load(loader: Any, *args: Any, **options: Any) -> DictConfig:
    if not _left:  # of another program in this process
        return _load(loader, *args, **options)
    with counted():
        return _load(loader, *args, **options)


def _counted_resolve(container: Any, *args: Any, **options: Any) -> Any:
    _spend("references", 1)
    found = _resolve(container, *args, **options)
    if isinstance(found, Container):
        _spend("values", _nodes(found))
    elif found is not None:
        _spend("characters", len(str(found)))
    return found


def _counted_content(conf: Any, *args: Any, **options: Any) -> Any:
    content = conf._content
    _spend("values", len(content) if isinstance(content, dict | list) else 1)
    return _content(conf, *args, **options)


COUNTING = (
    (CachingConfigRepository, "load_config", _counted_lookup),
    (ConfigLoaderImpl, "_load_configuration_impl", _counted_load),
    (Container, "_resolve_interpolation_from_parse_tree", _counted_resolve),
    (BaseContainer, "_to_content", staticmethod(_counted_content)),
)
"""Methods of Hydra and OmegaConf, and what stands in their place inside `counted`."""


@contextmanager
def _counting() -> Iterator[None]:
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in COUNTING]
    for owner, name, method in COUNTING:
        setattr(owner, name, method)
    try:
        yield
    finally:
        for owner, name, method in before:
            setattr(owner, name, method)
