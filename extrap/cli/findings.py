"""Compare a study with the statements that were declared before it ran.

Statements stand in `results/<study>/findings.yaml` (extrap.results.findings.statement), sentences
with numbers in `numbers.yaml` (extrap.results.findings.numbers); how statements are judged:
extrap.results.findings.verdict.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from extrap.cli.columns import aligned
from extrap.cli.experiments import seeds
from extrap.cli.shared import argument, as_json, command, need_study, plain
from extrap.results.findings.design import limit
from extrap.results.findings.markdown_pages import ALL, judged, number, reason, summary, written
from extrap.results.findings.verdict import Finding
from extrap.utils import atomic
from extrap.utils.errors import UserError

HEADER = ("verdict", "effect", "low", "high", "bound", "seeds", "below", "statement")


def text(results: Path, study: str) -> str:
    """Returns one line per statement, then why nothing was decided."""
    found = judged(results, study)
    lines = [HEADER, *(_line(one) for one in found)]
    out = [*aligned(lines, left=(0, 7)), "", summary(found)]
    reasons = [one for one in found if reason(one)]
    if reasons:
        out += ["", *(f"{one.statement.id}: {reason(one)}" for one in reasons)]
    if limits := _limits(study, found):
        out += ["", *limits]
    return "\n".join(out)


def values(results: Path, study: str) -> dict:
    """Returns all of it as JSON has it."""
    return plain({"study": study, "statements": [*map(_values, judged(results, study))]})


def _values(one: Finding) -> dict:
    """Returns a statement and its verdict as values."""
    said = one.statement
    values = {
        "id": said.id,
        "says": said.says,
        "source": said.source,
        "bound": said.claim,
        "digest": said.digest,
    }
    return values | {name: value for name, value in vars(one).items() if name != "statement"}


WRITE = f"write DIR/{ALL} and the generated parts of every page"


@command(
    "study? results json",
    argument("--write", action="store_true", help=WRITE),
)
def main(args: Namespace) -> Iterator[str]:
    if args.write:
        if args.study is not None:
            problem = "--write writes the pages of all studies"
            raise UserError("STUDY", args.study, problem, "leave the name out")
        for path, content in written(args.results).items():
            atomic.replace(path, content.encode())
            yield str(path)
        return
    choice = (args.results, need_study(args))
    yield as_json(values(*choice)) if args.json else text(*choice)


def _limits(study: str, found: list[Finding]) -> list[str]:
    """Returns a line for each statement without rows that the seeds of the study cannot decide."""
    waiting = [one.statement for one in found if one.verdict == "not measured"]
    planned = seeds(study)
    limits = {one.id: limit(one, planned) for one in waiting} if planned else {}
    return [f"{name}: cannot be decided by design: {why}" for name, why in limits.items() if why]


def _line(one: Finding) -> tuple[str, ...]:
    numbers = (number(value) for value in (one.effect, one.low, one.high))
    below = str(one.below) if one.runs else "-"
    return (one.verdict, *numbers, one.statement.claim, str(one.seeds), below, one.statement.says)
