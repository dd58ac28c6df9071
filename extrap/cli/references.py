"""References in values of a configuration, `${...}`, as OmegaConf's own grammar reads them.

A file may refer to options of its configuration, and through the resolvers `hydra` and `now` to the
program's name and the time. Every other resolver (`oc.env`, `oc.create`, one of a plug-in) is
refused in a file: it would read the environment or make new nodes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antlr4 import ParserRuleContext
from omegaconf import OmegaConf
from omegaconf.errors import GrammarParseError
from omegaconf.grammar.gen.OmegaConfGrammarParser import OmegaConfGrammarParser as Grammar
from omegaconf.grammar_parser import parse

from extrap.utils.errors import UserError

RESOLVERS = ("hydra", "now")


def check(config: Any, file: Path) -> None:
    """Raises UserError for a value of a file with a reference beyond the configuration."""
    for option, text in texts(OmegaConf.to_container(config, resolve=False)):
        value = f"{file}: {option}={text}"
        if any(_resolver(one) not in (None, *RESOLVERS) for one in _references(text, value)):
            raise UserError(
                f"{value}: a file may refer to options of the configuration and to nothing else; "
                "give the value on the command line"
            )


def check_typed(option: str, value: Any) -> None:
    """Raises UserError for a value of an option of Hydra with a reference outside `hydra`, where
    files could have put any node.
    """
    for _, text in texts(value):
        for one in _references(text, f"{option}={text}"):
            if _resolver(one) not in RESOLVERS and not one.getText().startswith("${hydra."):
                raise UserError(
                    f"{option}={text}: an option of Hydra takes no reference to options outside "
                    "hydra; give the value itself"
                )


def texts(node: Any, option: str = "") -> Iterator[tuple[str, str]]:
    """Yields (option, text) for each text of plain data, keys included."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from texts(str(name), option)
            yield from texts(value, f"{option}.{name}".removeprefix("."))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from texts(value, f"{option}.{number}".removeprefix("."))
    elif isinstance(node, str):
        yield option, str(node)


def _references(text: str, value: str) -> list[Any]:
    """Returns the references of a text, nested ones too. Raises UserError, about `value`, for a
    text that OmegaConf would not read.
    """
    if "${" not in text:
        return []
    try:
        tree = parse(text)
    except GrammarParseError as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"{value}: not a reference ({reason}); write ${{option}}") from None
    return list(_inside(tree))


def _inside(tree: Any) -> Iterator[Any]:
    if isinstance(tree, Grammar.InterpolationNodeContext | Grammar.InterpolationResolverContext):
        yield tree
    if isinstance(tree, ParserRuleContext):
        for child in tree.getChildren():
            yield from _inside(child)


def _resolver(reference: Any) -> str | None:
    """Returns the name of a reference's resolver, None for a reference to a node."""
    if isinstance(reference, Grammar.InterpolationNodeContext):
        return None
    return str(reference.resolverName().getText())
