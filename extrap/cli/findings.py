"""`extrap findings STUDY`: what was declared of a study before it ran, and what its rows say.

    extrap findings extension           every statement with its verdict, effect, interval and seeds
    extrap findings --write             the tables of all studies, into results/README.md, and the
                                        numbers in their texts (extrap.results.findings.numbers)

Statements stand in `results/<study>/findings.yaml` (extrap.results.findings.statement); how they
are judged: extrap.results.findings.verdict. A finding that does not come again is a result.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from extrap.cli.columns import aligned
from extrap.cli.shared import as_json, parser, plain, reported
from extrap.results import rows as table
from extrap.results.findings import numbers
from extrap.results.findings.statement import FILE
from extrap.results.findings.verdict import VERDICTS, Finding, findings
from extrap.results.places import having, place
from extrap.utils import files as atomic
from extrap.utils.errors import UserError

HEADER = ("verdict", "effect", "low", "high", "bound", "seeds", "below", "statement")
BEGIN, END = "<!-- findings -->", "<!-- /findings -->"
README = "README.md"


def declared(results: Path) -> list[str]:
    """Names of the studies that have statements."""
    return [folder.name for folder in having(results, FILE)]


def judged(results: Path, study: str) -> list[Finding]:
    """Of a study by name; without rows nothing is measured. Raises UserError for an unknown one."""
    if study not in declared(results):
        listed = ", ".join(declared(results)) or "none yet"
        raise UserError(
            "STUDY", study, f"no {FILE} of it in {results}", f"studies with one: {listed}"
        )
    folder = place(results, study)
    return findings(folder, table.read(folder) if study in table.studies(results) else None)


def text(results: Path, study: str) -> str:
    """One line per statement, then why nothing was decided."""
    found = judged(results, study)
    lines = [HEADER, *(_line(one) for one in found)]
    out = [*aligned(lines, left=(0, 7)), "", summary(found)]
    reasons = [one for one in found if one.reason or one.statement.badly_put]
    if reasons:
        out += ["", *(f"{one.statement.id}: {_reason(one)}" for one in reasons)]
    return "\n".join(out)


def summary(found: list[Finding]) -> str:
    """How many statements came to which verdict, and what their intervals are."""
    count = Counter(one.verdict for one in found)
    counts = ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict])
    return (
        f"{len(found)} statements: {counts}. Intervals of 95 %, each by itself, not adjusted for "
        "their number; over seeds, of the documents and trials that were read."
    )


def markdown(results: Path) -> str:
    """The tables of every study that has statements, in Markdown."""
    parts = []
    for study in declared(results):
        found = judged(results, study)
        parts.append(f"### {study}\n\n{summary(found)}\n")
        if any(one.verdict != "not measured" for one in found):
            parts.append(_markdown(found))
    return "\n".join(parts)


def written(results: Path) -> str:
    """results/README.md with today's tables. Raises UserError where it has no place for them."""
    path = results / README
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    if BEGIN not in old or END not in old:
        raise UserError(path, problem=f"lacks the lines {BEGIN} and {END}", remedy="add both lines")
    return old[: old.index(BEGIN)] + f"{BEGIN}\n{markdown(results)}{old[old.index(END) :]}"


def texts(results: Path) -> dict[Path, str]:
    """READMEs of the studies whose numbers are declared, with those of today's rows. Raises
    UserError where there is no README.
    """
    found = {}
    for folder in having(results, numbers.FILE):
        file, path = folder / numbers.FILE, folder / README
        if not path.is_file():
            raise UserError(
                file, problem=f"{README}, whose numbers it declares, is missing", remedy="write it"
            )
        text = path.read_text(encoding="utf-8")
        found[path] = numbers.filled(text, file.parent, table.read(file.parent))
    return found


def values(results: Path, study: str) -> dict:
    """All of it as JSON has it."""
    return plain(
        {
            "study": study,
            "statements": [
                {"id": one.statement.id, "says": one.statement.says, "source": one.statement.source}
                | {"bound": one.statement.claim, "digest": one.statement.digest}
                | {name: value for name, value in vars(one).items() if name != "statement"}
                for one in judged(results, study)
            ],
        }
    )


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser(
        "extrap findings",
        "Compare a study with what was declared before it ran.",
        study="optional",
        results=True,
        json=True,
    )
    command.add_argument(
        "--write",
        action="store_true",
        help="write the tables of all studies into DIR/README.md, and the numbers in their texts",
    )
    args = command.parse_args(argv)
    with reported(command.prog):
        if args.write:
            whole = {args.results / README: written(args.results)} | texts(args.results)
            for path, content in whole.items():
                atomic.replace(path, content.encode())
                print(path)
            return
        if args.study is None:
            listed = ", ".join(declared(args.results)) or "none yet"
            raise UserError("STUDY", problem="missing", remedy=f"studies with statements: {listed}")
        choice = (args.results, args.study)
        print(as_json(values(*choice)) if args.json else text(*choice))


def _line(one: Finding) -> tuple[str, ...]:
    numbers = (_number(value) for value in (one.effect, one.low, one.high))
    below = str(one.below) if one.runs else "-"
    return (one.verdict, *numbers, one.statement.claim, str(one.seeds), below, one.statement.says)


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _reason(one: Finding) -> str:
    remarks = [one.reason] if one.reason else []
    if one.statement.badly_put:
        remarks.append(f"badly put: {one.statement.badly_put}")
    return "; ".join(remarks)


def _markdown(found: list[Finding]) -> str:
    lines = [
        "| statement | source | verdict | effect | bound | seeds (runs below the gate) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        interval = "" if np.isnan(one.low) else f" [{_number(one.low)}, {_number(one.high)}]"
        extra = "; ".join(filter(None, (_reason(one), one.statement.note)))
        cells = (
            one.statement.says,
            one.statement.source,
            f"**{one.verdict}**" + (f" ({extra})" if extra else ""),
            _number(one.effect) + interval,
            one.statement.claim,
            f"{one.seeds} ({one.below} of {one.runs})" if one.runs else "-",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
