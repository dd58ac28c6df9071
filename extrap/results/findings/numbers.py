"""Numbers in the text of a study's README, each declared as what it is of the rows.

`results/<study>/numbers.yaml` names the sentences that hold them:

    common: {task: kv, metric: accuracy, protocol: records, extension: direct}
    numbers:
    - text: "At 4x ALiBi finds {}, RoPE {}."
      multiple: 4
      each: [{scheme: alibi}, {scheme: rope}]
    not_measured:
    - text: "a step of .001"
      reason: an option of the command beside it

A `{}` stands for one number, read by one entry of `each`: columns of rows as a statement selects
them, or its statistic, over, terms, contrasts, across (extrap.results.findings.statement); what
stands beside `text` holds for all of `each`. `take`: effect (the mean over seeds; left out),
low and high of its interval, or exp, the perplexity of a loss. A number has the decimals that it is
printed with. `extrap findings --write` writes today's numbers into the texts; a test finds decimals
that are declared nowhere, among them those that a sentence holds beside its `{}`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.findings.statement import FIELDS, statement
from extrap.results.findings.verdict import judge, table
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_yaml

FILE = "numbers.yaml"
NUMBER = r"[+-]?(?:\d*\.\d+|\d+)"
DECIMAL = re.compile(r"(?<![\w.])[+-]?\d*\.\d+")
TAKES = ("effect", "low", "high", "exp")
NEEDED = {"numbers": {"text", "each"}, "not_measured": {"text", "reason"}}
SKIPPED = (
    r"```.*?```",
    r"`[^`]*`",
    r"\]\([^)]*\)",
    r"https?://\S+",
    r"arXiv[ :]\d{4}\.\d{5}|\b\d{4}\.\d{5}\b",
    r"<!-- (\w+) -->.*?<!-- /\1 -->",
)
"""What is no prose: code, addresses, papers, generated tables."""


def declared(folder: Path) -> dict[str, Any]:
    """The declarations of a folder, none without a file. Raises UserError for a damaged one."""
    path = folder / FILE
    empty = {"common": {}, "numbers": [], "not_measured": []}
    parsed = read_yaml(path) if path.is_file() else {}
    if not isinstance(parsed, dict):
        raise UserError(path, problem=f"expected a mapping with {' and '.join(empty)}")
    found = empty | parsed
    for part, needed in NEEDED.items():
        for entry in found[part] if isinstance(found[part], list) else [found[part]]:
            if not isinstance(entry, dict) or not needed <= {*entry}:
                raise UserError(
                    path, problem=f"{part}: a list, each with {' and '.join(sorted(needed))}"
                )
    return found


def filled(text: str, folder: Path, rows: pd.DataFrame) -> str:
    """The text with the numbers that rows have today.

    Raises UserError where a sentence is not in the text exactly once, or nothing answers.
    """
    sentences, rows = declared(folder), table(rows)
    for entry in sentences["numbers"]:
        found = _place(text, entry["text"], folder)
        common = {k: v for k, v in entry.items() if k not in ("text", "each")}
        values = [_value(sentences["common"] | common | one, rows, folder) for one in entry["each"]]
        if len(values) != len(found.groups()):
            raise UserError(
                folder / FILE, problem=f"{entry['text']}: not one entry of each a number"
            )
        for group, value in reversed([*enumerate(values, 1)]):
            text = _put(text, found.span(group), value)
    return text


def undeclared(text: str, folder: Path) -> list[str]:
    """Decimals of a text that are neither declared nor listed as not measured, with their place."""
    sentences, hidden = declared(folder), list(_skipped(text))
    for entry in sentences["numbers"]:
        for found in re.finditer(_pattern(entry["text"]), text):
            hidden += [found.span(group) for group in range(1, len(found.groups()) + 1)]
    for entry in sentences["not_measured"]:
        hidden += [found.span() for found in re.finditer(_pattern(entry["text"]), text)]
    return [
        f"{found.group()} in “{' '.join(text[max(0, found.start() - 40) : found.end()].split())}”"
        for found in DECIMAL.finditer(text)
        if not any(begin <= found.start() < end for begin, end in hidden)
    ]


def _skipped(text: str) -> Iterator[tuple[int, int]]:
    for pattern in SKIPPED:
        yield from (found.span() for found in re.finditer(pattern, text, re.DOTALL))


def _pattern(sentence: str) -> str:
    words = [re.escape(word).replace(r"\{\}", f"({NUMBER})") for word in sentence.split()]
    return r"(?<![\d.])" + r"\s+".join(words) + r"(?!\.?\d)"


def _place(text: str, sentence: str, folder: Path) -> re.Match[str]:
    found = [*re.finditer(_pattern(sentence), text)]
    if len(found) != 1:
        raise UserError(
            folder / FILE,
            problem=f"{sentence}: stands {len(found)} times in README.md, not once",
            remedy="write each sentence once",
        )
    return found[0]


def _value(entry: dict[str, Any], rows: pd.DataFrame, folder: Path) -> float:
    take = entry.get("take", "effect")
    fields = {name: entry[name] for name in FIELDS & {*entry}}
    columns = {name: entry[name] for name in {*entry} - {*fields} - {"take"}}
    plain = {"id": FILE, "says": "-", "source": "-", "above": 0, "rows": columns} | fields
    finding = judge(statement(folder / FILE, 0, plain, {}), rows)
    if take not in TAKES:
        raise UserError(folder / FILE, problem=f"take={take}: one of {', '.join(TAKES)}")
    value = finding.effect if take == "exp" else getattr(finding, take)
    if np.isnan(value):
        raise UserError(folder / FILE, problem=f"{columns}: {finding.reason or 'no number'}")
    return float(np.exp(value)) if take == "exp" else float(value)


def _put(text: str, span: tuple[int, int], value: float) -> str:
    old = text[slice(*span)]
    places = len(old.rpartition(".")[2]) if "." in old else 0
    new = f"{value:{'+' if old[0] == '+' else ''}.{places}f}"
    new = re.sub(r"^([+-]?)0\.", r"\1.", new)
    return text[: span[0]] + (new.lstrip("-") if not float(new) else new) + text[span[1] :]
