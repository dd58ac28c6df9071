"""The reference of options, conf/README.md: every option of every group of conf, with its default,
its type and bound, and its line in the docstring of its class.
"""

import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from enum import Enum
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_type_hints

from extrap.cli.apart import find_plugins
from extrap.cli.config_schema import Config
from extrap.cli.sweep.grid import Sweep
from extrap.cli.sweep.slurm_options import SlurmOptions
from extrap.model.decoder import Decoder
from extrap.runs.build import find
from extrap.runs.published import Reading
from extrap.runs.served import Serving
from extrap.runs.training.optim import Optim
from extrap.runs.training.options import TrainerOptions
from extrap.utils import atomic, markdown
from extrap.utils.docs import options
from extrap.utils.hints import describe
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import PAGE, read_text, read_yaml

PAGE_NAME = "README.md"
GROUPS = ("scheme", "extension", "finetune", "model", "data", "data/corpus", "data/vocabulary")
GROUPS += ("task", "trainer", "logger", "hydra/launcher")
TOP: dict[str, type] = {"": Config, "train": Optim, "sweep": Sweep}
"""Nodes of a configuration that are no group, by their name."""
PLAIN = {"model": (Decoder, Reading, Serving), "trainer": (TrainerOptions,)}
"""Classes of the files that name none, by group."""
NAMED = {"SlurmLauncher": SlurmOptions}
"""Classes whose options another class documents."""

COLUMNS = ("default", "takes", "meaning")

MOST = 6
"""Files that a line names."""

Uses = dict[type, dict[str, dict[str, Any]]]
"""{class: {file: {option: value}}}."""


def write() -> Path:
    """Writes the tables into conf/README.md and returns the file."""
    path = Path(conf_dir()) / PAGE_NAME
    atomic.replace(path, page(read_text(path, PAGE)).encode())
    return path


def page(text: str) -> str:
    """Returns the text of the page with its tables made anew."""
    find_plugins()
    sections = [_top(name, cls) for name, cls in TOP.items()]
    sections += [_group(name) for name in GROUPS]
    return markdown.between(text, "options", "\n\n".join(sections))


def _top(name: str, cls: type) -> str:
    """Returns the table of a node that is no group."""
    told, hints = options(cls), _hints(cls)
    prefix = f"{name}." if name else ""
    lines = []
    for field in fields(cls):
        option = field.name
        if option in told:
            default = _shown(_default(field))
            takes = _takes(hints, option)
            lines.append([f"`{prefix}{option}`", default, takes, told[option]])
    title = f"## {name or 'Every command'}"
    return f"{title}\n\n{markdown.table([['option', *COLUMNS], *lines])}"


def _default(field: "Field[Any]") -> Any:
    """Returns the default of a field as plain data."""
    value = field.default if field.default_factory is MISSING else field.default_factory()
    return getattr(value, "value", value)


def _group(group: str) -> str:
    """Returns the table of a group: the classes of its files, and the options of each."""
    uses: Uses = defaultdict(dict)
    for file in sorted((Path(conf_dir()) / group).glob("*.yaml")):
        for cls, node in _nodes(group, read_yaml(file)):
            uses[cls].setdefault(file.stem, node)
    lines = []
    for cls, by_file in sorted(uses.items(), key=lambda item: min(item[1])):
        lines += _lines(group, cls, by_file)
    head = ["class and choices", "option", *COLUMNS]
    return f"## {group}\n\n{markdown.table([head, *lines])}"


def _nodes(group: str, node: Any) -> Iterator[tuple[type, dict[str, Any]]]:
    """Yields every node of a file that a class builds, outer nodes first, and its class."""
    if isinstance(node, list):
        for part in node:
            yield from _nodes("", part)
    if not isinstance(node, dict):
        return
    cls = _class(group, node)
    if cls is not None:
        yield cls, {name: v for name, v in node.items() if name not in ("_target_", "defaults")}
    for part in node.values():
        yield from _nodes("", part)


def _class(group: str, node: dict[str, Any]) -> type | None:
    """Returns the class of a node, None for a node that changes options of another file."""
    if "_target_" in node:
        module, _, name = node["_target_"].rpartition(".")
        if name in NAMED:
            return NAMED[name]
        if module.startswith("hydra_plugins"):
            return getattr(import_module(module), name)
        return find(node["_target_"], "configuration", ())
    known = [cls for cls in PLAIN.get(group, ()) if node.keys() & options(cls).keys()]
    return max(known, key=lambda cls: len(node.keys() & options(cls).keys()), default=None)


def _lines(group: str, cls: type, by_file: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Returns a line for each option of a class; the first one names the class and its files."""
    told, hints = options(cls), _hints(cls)
    names = dict.fromkeys(chain.from_iterable(by_file.values()))
    files = [f"[{file}]({group}/{file}.yaml)" for file in by_file]
    rest = f" and {len(files) - MOST} others" if len(files) > MOST else ""
    where = f"**{cls.__name__}**: {', '.join(files[:MOST])}{rest}"
    lines = []
    for name in names:
        values = Counter(_shown(node[name]) for node in by_file.values() if name in node)
        shown = [value for value, _ in values.most_common(3)]
        more = f", {len(values) - 3} others" if len(values) > 3 else ""
        meaning = told.get(name, "as in Lightning" if group == "trainer" else "")
        default = ", ".join(shown) + more
        lines.append(["" if lines else where, f"`{name}`", default, _takes(hints, name), meaning])
    return lines


def _hints(cls: type) -> dict[str, Any]:
    """Returns the type hint of each option of a class and of its bases."""
    found: dict[str, Any] = {}
    for one in reversed(cls.__mro__[:-1]):
        if "__init__" in vars(one):
            found |= get_type_hints(one.__init__, include_extras=True)
    return found


def _takes(hints: dict[str, Any], name: str) -> str:
    """Returns the type and the bound of an option in words, "" for one of any type."""
    hint = hints.get(name, Any)
    if inspect.isclass(hint) and issubclass(hint, Enum):
        hint = Literal[*(one.value for one in hint)]
    return "" if hint is Any else describe(hint)


def _shown(value: Any) -> str:
    """Returns a default as a command line has it; of objects their classes."""
    if isinstance(value, dict):
        built = value.get("_target_")
        return f"a {built.rpartition('.')[2]}" if built else _joined(value.values())
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return _joined(value)
    if isinstance(value, list):
        return f"`{value}`".replace(" ", "")
    plain = "null" if value is None else str(value).lower() if value in (True, False) else value
    return f"`{plain}`"


def _joined(values: Any) -> str:
    return ", ".join(map(_shown, values))
