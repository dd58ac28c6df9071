"""The tables of schemes, extensions and tasks, made from the configuration files themselves."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from extrap.audit.subject import DEFAULT_SHAPE, Subject
from extrap.model.parts import SOURCE, card, kind, parts
from extrap.model.scheme import HOOKS
from extrap.results import rows
from extrap.results.places import has_rows
from extrap.results.summary import LEARNED, learning
from extrap.runs.build import find
from extrap.utils import atomic, markdown
from extrap.utils.docs import docstring
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import PAGE, read_text, read_yaml

USED_BY = re.compile(r"^# Used by: (.+)$", re.MULTILINE)


def table(group: str, folder: Path | None = None, plugins: Sequence[str] = ()) -> pd.DataFrame:
    """Returns a row per file of a group: scheme, extension or task; one of schemes also says what
    the rows of the study `zoo` hold of it. Raises UserError for a folder without files, and for a
    file that names no class.

    Args:
        folder: configuration files, this package's by default
        plugins: packages whose classes they may name
    """
    path = (folder or Path(conf_dir())) / group
    lines = []
    for file in sorted(path.glob("*.yaml"), key=lambda file: file.stem):
        lines.append({group: file.stem} | _row(group, file, plugins))
    found = pd.DataFrame(lines)
    if found.empty:
        raise UserError("--config-dir", folder, f"no YAML in its folder {group}")
    if group == "scheme":
        zoo = Path(conf_dir()).parent / "results" / "zoo"
        measured = _measured(zoo)
        of_schemes = measured.reindex(found["scheme"]).fillna("-")
        found[[*measured.columns]] = of_schemes.to_numpy()
    others = found.columns.drop("source")
    return found[[*others, "source"]]


def write(folder: Path, plugins: Sequence[str] = ()) -> list[Path]:
    """Writes the tables of a folder into the READMEs of its groups and returns the files. Raises
    UserError for a folder without any group.
    """
    written = []
    for group in ROWS:
        if any((folder / group).glob("*.yaml")):
            path = folder / group / "README.md"
            text = read_text(path, PAGE) if path.exists() else ""
            if f"<!-- {group} -->" not in text:
                text += f"<!-- {group} -->\n<!-- /{group} -->\n"
            made = page(table(group, folder, plugins))
            text = markdown.between(text, group, made)
            atomic.replace(path, text.encode())
            written.append(path)
    if not written:
        raise UserError("--config-dir", folder, f"no YAML in its folders {', '.join(ROWS)}")
    return written


def page(frame: pd.DataFrame) -> str:
    """Returns the table in Markdown; names lead to their files."""
    heads = [*frame.columns]
    links = [f"[{name}]({name}.yaml)" for name in frame.iloc[:, 0]]
    linked = frame.assign(**{heads[0]: links})
    lines = linked.to_numpy().tolist()
    return markdown.table([heads, *lines])


def _measured(study: Path) -> pd.DataFrame:
    """By scheme: accuracy of retrieval at multiples of L, and the step at which it was learned."""
    lengths = [f"{m}L" if m > 1 else "L" for m in LEARNED]
    columns = ["at " + ", ".join(lengths), "learned at step"]
    if not has_rows(study):
        return pd.DataFrame(columns=columns)
    table = learning(rows.read(study))
    text = {}
    for scheme, line in table.iterrows():
        text[scheme] = [_shares(line), _when(line)]
    return pd.DataFrame.from_dict(text, orient="index", columns=columns)


def _shares(line: pd.Series) -> str:
    shares = ["-" if pd.isna(line[m]) else f"{line[m]:.2f}" for m in LEARNED]
    return " ".join(shares).replace("0.", ".")


def _when(line: pd.Series) -> str:
    when = "never" if pd.isna(line["steps"]) else f"{line['steps']:.0f}"
    seeds = int(line["seeds"])
    arrived = line["arrived"]  # nan without a step
    missed = seeds - int(line["passed"])
    said = []
    if 0 < arrived < seeds:  # the mean over the seeds that arrived
        said.append(f"{arrived:.0f} of {seeds} seeds")
    if missed:
        said.append(f"{missed} of {seeds} below the gate")
    return f"{when} ({'; '.join(said)})" if said else when


def _row(group: str, file: Path, plugins: Sequence[str]) -> dict[str, str]:
    node = read_yaml(file)
    text = read_text(file)
    if isinstance(node, dict) and "defaults" in node:
        return _of_others(group, text)
    if not isinstance(node, dict) or "_target_" not in node:
        raise UserError(file, problem="names no class", remedy="give it as _target_: package.Class")
    return ROWS[group](node, text, plugins)


def _of_others(group: str, text: str) -> dict[str, str]:
    """Returns the row of a choice that is made of others, which say it themselves."""
    comment = {} if group == "scheme" else {COLUMNS[group][0]: _comment(text)}
    return dict.fromkeys(COLUMNS[group], "-") | comment


def _comment(text: str) -> str:
    """Returns the first comment of a file that is none of Hydra, such as `# @package task`."""
    said = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    return next((line for line in said if line and not line.startswith("@")), "-")


def _scheme(node: dict[str, Any], text: str, plugins: Sequence[str]) -> dict[str, str]:
    scheme = Subject("", node, plugins).scheme(DEFAULT_SHAPE)
    single = parts(scheme)
    try:
        cards = [card(part) for part in single]
    except ValueError as error:  # of a plug-in
        raise UserError(node["_target_"], problem=error) from None

    def of_parts(field: str) -> str:
        """What the cards of the parts say, each text once. Parts without a position are left out
        where others have one.
        """
        acting = [c for c in cards if c["Kind"] != "none" or len(cards) == 1]
        once = dict.fromkeys(c[field] for c in acting)
        once.pop("-", None)
        return "; ".join(once) or "-"

    # a card speaks of the class; a file that sets its options or stacks it may say better
    used_by = "-"
    if own := USED_BY.search(text):
        used_by = own[1]
    elif len(single) == 1:
        used_by = of_parts("Used by")
    used = [hook for name, hook in HOOKS.items() if scheme.uses(name)]
    acts_at = ", ".join(hook.acts_at for hook in used)
    parameters = sum(p.numel() for p in scheme.parameters())
    return {
        "kind": kind(scheme),
        "acts at": acts_at or "nothing",
        "used by": used_by,
        "parameters": f"{parameters:,}",
        "past L": of_parts("Past L"),
        "source": of_parts("Source"),
    }


def _extension(node: dict[str, Any], text: str, plugins: Sequence[str]) -> dict[str, str]:
    return {"what it does": _comment(text)} | _options_and_sources(node, plugins)


def _task(node: dict[str, Any], text: str, plugins: Sequence[str]) -> dict[str, str]:
    module, _ = _docstrings(node, plugins)
    paragraph = module.strip().split("\n\n")[0]
    sentence = re.split(r"\.\s", paragraph)[0]
    asks = " ".join(sentence.split()).rstrip(".")
    return {"what it asks": asks} | _options_and_sources(node, plugins)


def _docstrings(node: dict[str, Any], plugins: Sequence[str]) -> tuple[str, str]:
    """Of the module that the class of a configuration stands in, and of the class."""
    target = node["_target_"]
    named = find(target, "configuration", plugins)
    module, _, _ = target.rpartition(".")
    return docstring(sys.modules[module]), docstring(named)


def _options_and_sources(node: dict[str, Any], plugins: Sequence[str]) -> dict[str, str]:
    """`name=default` of every option that is no object of its own; and sources."""
    options = []
    for name, value in node.items():
        if name == "_target_" or isinstance(value, dict):
            continue
        default = "null" if value is None else str(value)
        options.append(f"`{name}={default.replace(' ', '')}`")
    listed = ", ".join(options) or "-"
    sources = dict.fromkeys(_sources(node, plugins))
    source = "; ".join(sources) or "-"
    return {"options": listed, "source": source}


def _sources(node: dict[str, Any], plugins: Sequence[str]) -> list[str]:
    """What the docstrings of the classes and modules of a configuration name as sources."""
    found = []
    for text in _docstrings(node, plugins):
        one_line = " ".join(text.split())
        found += SOURCE.findall(one_line)
    for part in node.values():
        if isinstance(part, dict) and "_target_" in part:
            found += _sources(part, plugins)
    return found


COLUMNS = {
    "scheme": ("kind", "acts at", "used by", "parameters", "past L", "source"),
    "extension": ("what it does", "options", "source"),
    "task": ("what it asks", "options", "source"),
}
"""By group: what the row of a file says."""

ROWS: dict[str, Callable[[dict[str, Any], str, Sequence[str]], dict[str, str]]] = {
    "scheme": _scheme,
    "extension": _extension,
    "task": _task,
}
"""By group: the row of a file."""
